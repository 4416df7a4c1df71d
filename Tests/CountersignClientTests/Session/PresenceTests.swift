import CountersignClient
import Fixtures
import Foundation
import Testing

/// The key of a device that asks its user before each signature, as an app with a PIN of its own does.
private struct AskingKeys: DeviceKeys {
    private let files: FileKeys
    let asked = Counter()
    let isRefused = Flag()
    private let answer: @Sendable () -> Void

    /// - Parameter answer: is called when the user is asked.
    init(_ place: ScratchDirectory, answer: @escaping @Sendable () -> Void = {}) {
        files = FileKeys(directory: URL(filePath: place.file("presence")))
        self.answer = answer
    }

    var presence: Presence { Presence(keys: self, method: "pin") }

    func make(_ name: String) throws(StorageFailure) -> Data { try files.make(name) }
    func publicPoint(_ name: String) throws(StorageFailure) -> Data? { try files.publicPoint(name) }
    func sign(_ message: Data, with name: String) throws(StorageFailure) -> Data {
        asked.add()
        answer()
        guard !isRefused.isSet else { throw .notPresent }
        return try files.sign(message, with: name)
    }
    func removeAll(except names: Set<String>) throws(StorageFailure) { try files.removeAll(except: names) }
}

/// A service that wants to know that a user is at the device before it sends a text.
@Suite("A proof of presence", .serialized)
struct PresenceTests {
    private static let required = ["phones.yaml": "presence_required: true\n"]
    private static let path = "/phone-verifications"

    @Test(
        "is asked of the user at each start, is accepted whatever the device's clock says, and is there after a restart"
    )
    func proof() async throws {
        let service = try await LiveService(policies: Self.required)
        let place = try ScratchDirectory()
        let keys = AskingKeys(place)
        let app = try App(service.service(), directory: place, presence: keys.presence, ahead: 600)
        let device = try await app.client.certify()
        let shown = try await service.running.countersign(["device", "show", device.id.uuidString.lowercased()])
        #expect(shown.output.contains(/presence key +yes/), "\(shown.output)")
        try await app.client.signIn(service.source("alice"))
        #expect(keys.asked.count == 0)
        let verification = try await app.client.phone.start("+1 (415) 555-0107")
        #expect(keys.asked.count == 1 && app.count(Self.path) == 1)
        let code = try await service.code(textedTo: "+14155550107")
        #expect(try await app.client.phone.check(code, of: verification) == .phone)

        let later = try App(service.service(), directory: place, presence: keys.presence)
        _ = try await later.client.phone.start("+14155550108")
        #expect(keys.asked.count == 2)
        // One key, of one device.
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.file("presence")).count == 1)
    }

    @Test("is made by the same key after the certificate was renewed")
    func renewed() async throws {
        let policies = Self.required.merging(["certification.yaml": "validity: 12s\nrenewals_per_day: 100\n"]) { $1 }
        let service = try await LiveService(policies: policies)
        let place = try ScratchDirectory()
        let keys = AskingKeys(place)
        let app = try App(service.service(), directory: place, presence: keys.presence)
        let first = try await app.client.certify()
        try await app.client.signIn(service.source("alice"))
        try await eventually { try await app.client.device?.serial != first.serial }
        _ = try await app.client.phone.start("+14155550107")
        #expect(keys.asked.count == 1)
    }

    @Test("is missing on a device that has no key for it, or was certified before the app had one")
    func missing() async throws {
        let service = try await LiveService(policies: Self.required)
        let place = try ScratchDirectory()
        let app = try App(service.service(), directory: place)
        try await app.client.certify()
        try await app.client.signIn(service.source("alice"))
        let later = try App(service.service(), directory: place, presence: AskingKeys(place).presence)
        for client in [app.client, later.client] {
            do throws(Refusal) {
                _ = try await client.phone.start("+14155550107")
                Issue.record("a text without a proof")
            } catch {
                #expect(error.problem?.code == .invalidPresenceProof && error.problem?.reason == "missing", "\(error)")
            }
        }
    }

    @Test("of a user who is not recognized is none: nothing is sent")
    func refused() async throws {
        let service = try await LiveService(policies: Self.required)
        let place = try ScratchDirectory()
        let keys = AskingKeys(place)
        let app = try App(service.service(), directory: place, presence: keys.presence)
        try await app.client.certify()
        try await app.client.signIn(service.source("alice"))
        keys.isRefused.set()
        do throws(Refusal) {
            _ = try await app.client.phone.start("+14155550107")
            Issue.record("a proof of nobody")
        } catch {
            guard case .storage(.notPresent) = error else { throw error }
        }
        #expect(keys.asked.count == 1 && app.count(Self.path) == 0)
    }

    @Test("whose answer was lost is made anew around another nonce, and one text is sent")
    func lostAnswer() async throws {
        let service = try await LiveService(policies: Self.required)
        let relay = try await Relay(to: service.clientURL.port ?? 0)
        var named = service.service()
        named.clientURL = try #require(URL(string: "https://127.0.0.1:\(relay.port)"))
        let place = try ScratchDirectory()
        let isFirst = Counter()
        let keys = AskingKeys(place) {
            isFirst.add()
            if isFirst.count == 1 { relay.loseAnswer() }
        }
        let app = try App(named, directory: place, presence: keys.presence)
        try await app.client.certify()
        try await app.client.signIn(service.source("alice"))
        let verification = try await app.client.phone.start("+14155550107")
        #expect(keys.asked.count == 2 && app.count(Self.path) == 3 && app.count(Self.path, status: 202) == 1)
        let code = try await service.code(textedTo: "+14155550107")
        #expect(try await app.client.phone.check(code, of: verification) == .phone)
        let texts = try String(contentsOf: service.running.path("texts.jsonl"), encoding: .utf8)
        #expect(texts.split(separator: "\n").count == 1)
    }
}
