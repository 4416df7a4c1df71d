import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing
import Tokens

@Suite("Events of providers")
struct ProviderEventTests {
    private static func object(_ name: String, _ value: JSONValue) -> JSONValue {
        .object([JSONMember(name: name, value: value)])
    }

    private static func event(
        _ events: JSONValue?, about subject: JSONValue, on fixture: ServiceFixture
    ) throws -> String {
        let registration = fixture.registration
        var draft = TokenDraft(header: [JSONMember(name: "alg", value: .string(fixture.signer.algorithm.rawValue))])
        draft[header: "typ"] = .string("application/secevent+jwt")
        draft[header: "kid"] = .string(registration.keyID.description)
        draft[claim: "iss"] = .string(registration.provider.id.description)
        draft[claim: "aud"] = .string(ServiceFixture.realm)
        draft[claim: "iat"] = .integer(Int64(fixture.clock.now.timeIntervalSince1970))
        draft[claim: "jti"] = .string(UUID().uuidString)
        draft[claim: "sub_id"] = subject
        draft[claim: "events"] = events
        return try fixture.signer.sign(draft)
    }

    @Test("have no effect if this service does not know them, whoever they are about, and are refused if broken")
    func unknown() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("anna", on: connection)
            let secret = try #require(opened.token).text.reveal()
            let provider = fixture.registration.provider.id.description
            let user: JSONValue = .object([
                "format": .string("iss_sub"), "iss": .string(provider), "sub": .string("anna"),
            ])
            let nobody: JSONValue = .object(["format": .string("did"), "url": .string("did:example:1")])
            let risc = "https://schemas.openid.net/secevent/risc/event-type/"
            for name in ["\(risc)sessions-revoked", "\(risc)account-enabled", "https://acme.example/event"] {
                for subject in [user, nobody] {
                    let event = try Self.event(Self.object(name, .object([])), about: subject, on: fixture)
                    try await fixture.context.receiveProviderEvent(event, at: .free)
                }
            }
            let known = ProviderEvent.sessionRevokedType
            let broken: [JSONValue?] = [
                nil, .null, .string(known), .array([]), .object([]), Self.object(known, .null),
                Self.object("https://acme.example/event", .string("x")),
            ]
            for events in broken {
                let refusal = await #expect(throws: Refusal.self) {
                    try await fixture.context.receiveProviderEvent(
                        try Self.event(events, about: user, on: fixture), at: .free)
                }
                #expect(refusal?.code == .providerTokenInvalid)
            }
            #expect(try await fixture.context.checkSession(secret, on: connection).id == opened.session.id)
            try await fixture.context.receiveProviderEvent(
                try Self.event(Self.object(known, .object([])), about: user, on: fixture), at: .free)
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await fixture.context.checkSession(secret, on: connection)
            }
        }
    }
}
