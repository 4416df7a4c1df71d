import CountersignClient
import Crypto
import Fixtures
import Foundation
import Testing

@Suite("Files of keys and secrets")
struct FileStorageTests {
    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("are for their owner alone, replaced whole, and leave no drafts")
    func secrets() throws {
        let place = try ScratchDirectory()
        let file = place.file("inner/secret.json")
        let store = FileStore(file: URL(filePath: file))
        #expect(try store.read() == nil)
        for text in ["one", String(repeating: "two", count: 10_000), ""] {
            try store.write(Data(text.utf8))
            #expect(try store.read() == Data(text.utf8))
            #expect(try mode(file) == 0o600 && mode(place.file("inner")) == 0o700)
            #expect(try FileManager.default.contentsOfDirectory(atPath: place.file("inner")) == ["secret.json"])
        }
        try store.remove()
        try store.remove()
        #expect(try store.read() == nil)
    }

    @Test("leave what a crash left behind to the next reader, who removes it when nobody can be writing it")
    func drafts() throws {
        let place = try ScratchDirectory()
        let store = FileStore(file: URL(filePath: place.file("secret.json")))
        try store.write(Data("kept".utf8))
        let (old, young) = (place.file(".secret.json.draft-old"), place.file(".secret.json.draft-young"))
        for path in [old, young] { try Data("half".utf8).write(to: URL(filePath: path)) }
        try FileManager.default.setAttributes(
            [.modificationDate: Date().addingTimeInterval(-3600)], ofItemAtPath: old)
        #expect(try store.read() == Data("kept".utf8))
        #expect(!FileManager.default.fileExists(atPath: old) && FileManager.default.fileExists(atPath: young))
    }

    @Test("that hold something else are refused, not overwritten")
    func damaged() async throws {
        let place = try ScratchDirectory()
        let file = URL(filePath: place.file("secret.json"))
        let url = try #require(URL(string: "https://127.0.0.1:1"))
        let service = Service(publicURL: url, clientURL: url, pins: [])
        for bytes in [Data("{".utf8), Data(repeating: 32, count: 2 << 20)] {
            try bytes.write(to: file)
            let client = Countersign(
                service, keys: FileKeys(directory: URL(filePath: place.file("keys"))), store: FileStore(file: file))
            do throws(Refusal) {
                try await client.certify()
                Issue.record("a damaged secret was read")
            } catch {
                guard case .storage(.damaged) = error else { throw error }
            }
            #expect(try Data(contentsOf: file) == bytes)
        }
    }

    @Test("sign with the key of the name, and keep only those that are named")
    func keys() throws {
        let place = try ScratchDirectory()
        let keys = FileKeys(directory: URL(filePath: place.file("keys")))
        #expect(try keys.publicPoint("one") == nil)
        let (one, two) = (try keys.make("one"), try keys.make("two"))
        #expect(try keys.publicPoint("one") == one && one != two)
        #expect(try mode(place.file("keys/one.pem")) == 0o600)
        let signature = try P256.Signing.ECDSASignature(derRepresentation: keys.sign(Data("text".utf8), with: "two"))
        #expect(try P256.Signing.PublicKey(x963Representation: two).isValidSignature(signature, for: Data("text".utf8)))
        try keys.removeAll(except: ["two"])
        #expect(try keys.publicPoint("one") == nil && keys.publicPoint("two") == two)
        #expect(throws: StorageFailure.damaged) { try keys.sign(Data(), with: "one") }
    }
}
