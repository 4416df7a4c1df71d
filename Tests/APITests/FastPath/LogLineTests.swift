import Domain
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Testing
import Tokens

@testable import API

@Suite("The log line of a request")
struct LogLineTests {
    @Test("names provider, app and device by their ids alone, on either way", arguments: [true, false])
    func parties(usesFastPath: Bool) async throws {
        try await ServiceFixture.run(FastPathEqualityTests.policy) { fixture in
            let way = AnswerWay(fixture, usesFastPath: usesFastPath)
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let token = try #require(opened.token).text.reveal()
            let wire = try await way.open(connection, isHTTP2: false)
            let requests = [
                WireRequest(fields: [("Authorization", "Layer session-token=\"\(token)\"")]),
                WireRequest(method: "POST", target: "/nonces"), WireRequest(),
            ]
            for request in requests { _ = try await wire.exchange(request) }
            await wire.close()
            let lines = way.lines
            #expect(lines.count == requests.count && (way.fastAnswers > 0) == usesFastPath)
            let session = opened.session
            let device = "device_id=\(session.deviceID)"
            let whole = "provider_id=\(session.providerID) app_id=\(session.applicationID) \(device)"
            #expect(lines.first?.contains(whole) == true, "\(lines)")
            for line in lines.dropFirst() {
                #expect(line.contains(device) && !line.contains("provider_id="), "\(line)")
            }
            #expect(lines.allSatisfy { !$0.contains("alice") && !$0.contains(session.userID.description) })
        }
    }

    /// A refused request, and whom its line must name.
    private struct Refused: Sendable {
        let what: String
        let listener: ListenerName
        let code: String
        let isProven: (provider: Bool, app: Bool)
        let request: @Sendable (ServiceFixture, ClientConnection) async throws -> WireRequest
    }

    private static func signIn(_ token: String) -> WireRequest {
        let body = #"{"identity_token":"\#(token)"}"#
        return WireRequest(
            method: "POST", target: "/sessions",
            fields: [("Content-Type", "application/json"), ("Content-Length", String(body.utf8.count))], body: body)
    }

    private static func shown(_ opened: Service.OpenedSession) throws -> WireRequest {
        let token = try #require(opened.token).text.reveal()
        return WireRequest(target: "/me", fields: [("Authorization", "Layer session-token=\"\(token)\"")])
    }

    private static func call(_ target: String, _ bearer: String) -> WireRequest {
        WireRequest(target: target, fields: [("Authorization", "Bearer \(bearer)")])
    }

    private static func bearer(_ fixture: ServiceFixture, by signer: ProviderSigner? = nil) throws -> String {
        try (signer ?? fixture.signer).providerToken(
            provider: fixture.registration.provider.id, kid: fixture.registration.keyID, realm: ServiceFixture.realm,
            now: fixture.clock.now)
    }

    private static let refused: [Refused] = [
        Refused(what: "a challenged session", listener: .client, code: "session_challenged", isProven: (true, true)) {
            let opened = try await $0.opened("alice", on: $1)
            _ = try await $0.admin.challengeUser("test/alice", reason: nil)
            return try shown(opened)
        },
        Refused(what: "an ended session", listener: .client, code: "session_destroyed", isProven: (true, true)) {
            let opened = try await $0.opened("alice", on: $1)
            try await $0.context.endUserSessions(of: "alice", at: try await $0.backend())
            return try shown(opened)
        },
        Refused(
            what: "a session of another device", listener: .client, code: "binding_mismatch", isProven: (false, false)
        ) { fixture, _ in
            try shown(try await fixture.opened("alice", on: try await fixture.connectNewDevice()))
        },
        Refused(what: "no session", listener: .client, code: "session_required", isProven: (false, false)) { _, _ in
            WireRequest(target: "/me")
        },
        Refused(what: "a banned user", listener: .client, code: "user_banned", isProven: (true, true)) {
            _ = try await $0.opened("alice", on: $1)
            let order = try BanOrder(
                target: .user("test/alice"), scope: .all, reason: try #require(Ban.Reason(rawValue: "spam")),
                note: nil, endsAt: nil, withDevices: false)
            _ = try await $0.admin.addBan(order, by: $0.policy[\.bans], upTo: nil)
            return signIn(try $0.identityToken("alice", on: $1))
        },
        Refused(
            what: "a used nonce", listener: .client, code: "invalid_identity_token", isProven: (true, true)
        ) {
            let token = try $0.identityToken("alice", on: $1)
            _ = try await $0.context.openSession(identityToken: token, applicationID: nil, on: $1)
            return signIn(token)
        },
        Refused(
            what: "an expired identity token", listener: .client, code: "invalid_identity_token",
            isProven: (true, false)
        ) {
            let token = try $0.identityToken("alice", on: $1)
            $0.clock.advance(1200)
            return signIn(token)
        },
        Refused(
            what: "an identity token of another key", listener: .client, code: "invalid_identity_token",
            isProven: (false, false)
        ) {
            signIn(
                try ProviderSigner(.es256).identityToken(
                    provider: $0.registration.provider.id, kid: $0.registration.keyID, externalID: "alice",
                    nonce: $0.context.issueNonce($1).nonce, now: $0.clock.now))
        },
        Refused(what: "an unknown user", listener: .public, code: "not_found", isProven: (true, false)) { fixture, _ in
            call("/provider/users/nobody", try bearer(fixture))
        },
        Refused(
            what: "a call of another key", listener: .public, code: "provider_token_invalid", isProven: (false, false)
        ) { fixture, _ in
            call("/provider/users/nobody", try bearer(fixture, by: try ProviderSigner(.es256)))
        },
    ]

    @Test("names the proven parties of a refused request, and no others", arguments: [true, false])
    func refusals(isHTTP2: Bool) async throws {
        for refused in Self.refused {
            try await ServiceFixture.run(FastPathEqualityTests.policy) { fixture in
                let way = AnswerWay(fixture, usesFastPath: true, on: refused.listener)
                let connection = try await fixture.connectNewDevice()
                let request = try await refused.request(fixture, connection)
                try await fixture.watch.poll()
                let wire = try await way.open(
                    refused.listener == .client ? connection : nil, isHTTP2: isHTTP2)
                _ = try await wire.exchange(request)
                await wire.close()
                let line = try #require(way.lines.last)
                #expect(line.contains("code=\(refused.code)"), "\(refused.what): \(line)")
                let provider = "provider_id=\(fixture.registration.provider.id)"
                #expect(line.contains(provider) == refused.isProven.provider, "\(refused.what): \(line)")
                #expect(line.contains("app_id=") == refused.isProven.app, "\(refused.what): \(line)")
                #expect(line.contains("provider_id=") == refused.isProven.provider, "\(refused.what): \(line)")
            }
        }
    }

    @Test("has the same members as JSON")
    func json() {
        var parties = RequestParties(
            provider: ProviderID(UUID()), app: ApplicationID(UUID()), device: DeviceID(UUID()))
        parties.administrator = AdministratorID(UUID())
        let line = RequestLine(
            listener: .client,
            outcome: ListenerFace.Outcome(
                method: .get, route: "/x", status: .ok, elapsed: .zero, parties: parties), id: "1")
        var bytes: [UInt8] = []
        line.appendJSON(to: &bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        var members: [String] = []
        parties.visit { members.append(",\"\($0)\":\"\(DeviceID($1))\"") }
        #expect(members.count == 4 && text.hasSuffix(members.joined()), "\(text)")
    }
}
