import CountersignClient
import Encoding
import Fixtures
import Foundation
import Synchronization
import Testing

/// Counts what is done with keys and secrets, and does nothing more from a chosen one on, as after a crash.
private final class Crash: Sendable {
    private let left: Mutex<Int>
    init(before step: Int) { left = Mutex(step) }

    func step() throws(StorageFailure) {
        let isOver = left.withLock { left in
            left -= 1
            return left < 0
        }
        if isOver { throw .failed(code: 999) }
    }

    var isOver: Bool { left.withLock { $0 < 0 } }
}

private struct CrashingStore: SecretStore {
    let store: FileStore
    let crash: Crash
    func read() throws(StorageFailure) -> Data? {
        try crash.step()
        return try store.read()
    }
    func write(_ secret: Data) throws(StorageFailure) {
        try crash.step()
        try store.write(secret)
        // The file is there, and its writer does not learn it.
        try crash.step()
    }
    func remove() throws(StorageFailure) {
        try crash.step()
        try store.remove()
    }
}

private struct CrashingKeys: DeviceKeys {
    let keys: FileKeys
    let crash: Crash
    func make(_ name: String) async throws(StorageFailure) -> Data {
        try crash.step()
        let point = try keys.make(name)
        try crash.step()
        return point
    }
    func publicPoint(_ name: String) async throws(StorageFailure) -> Data? {
        try crash.step()
        return try keys.publicPoint(name)
    }
    func sign(_ message: Data, with name: String) async throws(StorageFailure) -> Data {
        try crash.step()
        return try keys.sign(message, with: name)
    }
    func removeAll(except names: Set<String>) async throws(StorageFailure) {
        try crash.step()
        try keys.removeAll(except: names)
    }
}

@Suite("A crash of the app")
struct CrashTests {
    @Test(
        "before or behind any step with keys and secrets leaves a device that certifies, signs in and proves presence")
    func anywhere() async throws {
        let service = try await LiveService(policies: ["phones.yaml": "presence_required: true\n"])
        var step = 0
        var hasCrashed = true
        while hasCrashed, step < 60 {
            let place = try ScratchDirectory()
            let crash = Crash(before: step)
            let keys = FileKeys(directory: URL(filePath: place.file("keys")))
            let presenceKeys = FileKeys(directory: URL(filePath: place.file("presence")))
            let store = FileStore(file: URL(filePath: place.file("secret.json")))
            do {
                let dying = Countersign(
                    service.service(), keys: CrashingKeys(keys: keys, crash: crash),
                    store: CrashingStore(store: store, crash: crash),
                    presence: Presence(keys: CrashingKeys(keys: presenceKeys, crash: crash), method: "pin"))
                try await dying.certify()
                try await dying.signIn(service.source("alice"))
                _ = try await dying.phone.start("+14155550107")
            } catch {
                #expect(crash.isOver, "\(error)")
            }
            hasCrashed = crash.isOver
            let presence = Presence(keys: presenceKeys, method: "pin")
            let app = try App(service.service(), directory: place, presence: presence)
            try await app.client.certify()
            // A session whose secret was kept against all appearance was ended by whoever was dying.
            do throws(Refusal) {
                try await app.client.act()
            } catch {
                try await app.client.signIn(service.source("alice"))
                try await app.client.act()
            }
            _ = try await app.client.phone.start("+14155550107")
            for name in ["keys", "presence"] {
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: place.file(name)).count == 1, "step \(step)")
            }
            step += 1
        }
        #expect(step > 8 && !hasCrashed)
    }

    @Test("between the answer and the disk is a lost answer: the same request brings the same certificate")
    func lostCertificate() async throws {
        let service = try await LiveService()
        let place = try ScratchDirectory()
        let keys = FileKeys(directory: URL(filePath: place.file("keys")))
        let store = FileStore(file: URL(filePath: place.file("secret.json")))
        // Read, write the request and learn of it; the write of the certificate is the fourth.
        let dying = Countersign(
            service.service(), keys: keys, store: CrashingStore(store: store, crash: Crash(before: 3)))
        do throws(Refusal) {
            try await dying.certify()
            Issue.record("kept without a disk")
        } catch {
            guard case .storage(.failed(code: 999)) = error else { throw error }
        }
        let app = try App(service.service(), directory: place)
        let device = try await app.client.certify()
        #expect(app.count("/certificates", status: 200) == 1)
        let listed = try await service.running.countersign(["certificate", "list", "--json"])
        guard case .array(let rows) = try StrictJSON.parse(Array(listed.output.utf8)) else {
            throw LiveService.Missing(what: listed.errors)
        }
        #expect(rows.compactMap { $0["serial"]?.text } == [device.serial])
    }
}
