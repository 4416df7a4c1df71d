import CountersignClient
import Fixtures
import Foundation
import Testing

@Suite("A full disk of the device")
struct FullDiskTests {
    /// Where a small file system is mounted, in the process that the first test starts.
    private static let place = ProcessInfo.processInfo.environment["COUNTERSIGN_SMALL_DISK"]

    @Test("is tried on a file system of 64 KiB, in a namespace of its own", .enabled(if: place == nil))
    func outside() async throws {
        let scratch = try ScratchDirectory()
        let user = getuid() == 0 ? [] : ["--user", "--map-current-user", "--keep-caps"]
        let script = "mount -t tmpfs -o size=64k,mode=0700 none \"$0\" && exec \"$@\""
        let tests = CommandLine.arguments[0]
        let done = try await Command.run(
            "unshare",
            ["--mount"] + user + ["sh", "-c", script, scratch.path, tests, "--testing-library", "swift-testing"]
                + ["--filter", "FullDiskTests/inside"],
            environment: ["COUNTERSIGN_SMALL_DISK": scratch.path], seconds: 400)
        #expect(done.status == 0, "\(done.output.suffix(4000))\n\(done.errors.suffix(4000))")
        #expect((done.output + done.errors).contains("1 test in 1 suite passed"), "\(done.output)\(done.errors)")
    }

    @Test(
        "is a typed error, and what was kept before stays; with room again the app goes on", .enabled(if: place != nil))
    func inside() async throws {
        let disk = URL(filePath: try #require(Self.place))
        let service = try await LiveService()
        let client = Countersign(
            service.service(), keys: FileKeys(directory: disk.appending(path: "keys")),
            store: FileStore(file: disk.appending(path: "secret.json")))
        let filler = disk.appending(path: "filler")
        func fill() throws {
            #expect(FileManager.default.createFile(atPath: filler.path, contents: nil))
            let file = try FileHandle(forWritingTo: filler)
            defer { try? file.close() }
            for size in [4096, 1] {
                for _ in 0..<32 { do { try file.write(contentsOf: Data(count: size)) } catch { break } }
            }
        }
        func expectFull(_ body: () async throws -> Void) async throws {
            do {
                try await body()
                Issue.record("kept on a full disk")
            } catch Refusal.storage(.full), SignInFailure.refused(.storage(.full)) {}
        }

        try fill()
        try await expectFull { try await client.certify() }
        try FileManager.default.removeItem(at: filler)
        let device = try await client.certify()

        try fill()
        try await expectFull { try await client.signIn(service.source("alice")) }
        #expect(try await client.session == nil)
        #expect(try await client.device == device)
        try FileManager.default.removeItem(at: filler)
        let session = try await client.signIn(service.source("alice"))

        // A renewal on a full disk serves as long as the app runs, and is kept with the next change.
        try fill()
        try await service.admin("session", "challenge", session.id.uuidString.lowercased())
        for _ in 0..<20 {
            try await client.act()
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(try await client.session?.id == session.id)
        try FileManager.default.removeItem(at: filler)
        try await client.signOut()
    }
}
