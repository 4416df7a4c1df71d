import Domain
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Testing

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

    @Test("has the same members as JSON")
    func json() {
        let parties = RequestParties(
            provider: ProviderID(UUID()), app: ApplicationID(UUID()), device: DeviceID(UUID()))
        let line = RequestLine(
            listener: .client,
            outcome: ListenerFace.Outcome(
                method: .get, route: "/x", status: .ok, elapsed: .zero, parties: parties), id: "1")
        var bytes: [UInt8] = []
        line.appendJSON(to: &bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        var members: [String] = []
        parties.visit { members.append(",\"\($0)\":\"\(DeviceID($1))\"") }
        #expect(members.count == 3 && text.hasSuffix(members.joined()), "\(text)")
    }
}
