import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import countersign

/// Audit log, backup and restore through the built binary.
@Suite("The store and its audit log in the running service", .serialized)
struct AuditLogTests {
    private func places(_ service: RunningService) throws -> [String] {
        ["--countersign", try RunningService.product("countersign"), "--directory", service.directory.path]
    }

    @Test("is chained and signed while it runs, and an export is verified by a reading of the documents alone")
    func live() async throws {
        let service = try await RunningService()
        try await expectScript("Audit/audit.py", ["live"] + places(service), seconds: 400)
        #expect(service.stop() == 0)
        // What a stopped service leaves is signed to the last entry.
        let report = try await service.countersign(["audit", "verify", "--json"])
        let value = try StrictJSON.parse(Array(report.output.utf8))
        #expect(value["entries"] == value["signed_through"])
        #expect(value["unchained"] == .integer(0))
        // The checkpoints stand in the log too.
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(log.contains("\"message\":\"audit checkpoint\""))
        let export = try await service.countersign(["audit", "export"])
        let tampered = export.output.replacing("ticket:17", with: "ticket:18")
        try tampered.write(to: service.path("tampered.jsonl"), atomically: true, encoding: .utf8)
        let interpreter = try #require(ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"])
        let judged = try await Command.run(
            interpreter,
            [
                RunningService.root.appending(path: "Tests/Interop/Audit/verify_audit.py").path,
                service.path("tampered.jsonl").path, "--key", service.path("Keys/service.key").path,
            ])
        #expect(judged.status == 1)
        #expect(judged.output.contains("defect"))
    }

    @Test("verifies 100,000 entries in the memory of 1,000")
    func large() async throws {
        let service = try await RunningService()
        #expect(service.stop() == 0)
        let found = try await expectScript("Audit/audit.py", ["large"] + places(service), seconds: 600)
        Swift.print(found, terminator: "")
    }

    @Test("brings back no session, nonce, erased user or revoked device when an older copy is restored")
    func restore() async throws {
        let service = try await RunningService()
        let more = try places(service) + ["--identity", service.path("device").path]
        try await expectScript("Migration/restore.py", ["before"] + service.clientArguments + more, seconds: 400)
        #expect(service.stop() == 0)
        try await expectScript("Migration/restore.py", ["restore"] + service.clientArguments + more, seconds: 400)
        try service.start()
        try await expectScript("Migration/restore.py", ["after"] + service.clientArguments + more, seconds: 400)
        // Chained on behind what the copy held, across the restore.
        #expect(service.stop() == 0)
        let report = try await service.countersign(["audit", "verify", "--json"])
        #expect(report.status == 0, "\(report.errors)")
    }

    @Test("finds a store whose file was damaged")
    func damage() async throws {
        let service = try await RunningService()
        #expect(service.stop() == 0)
        let store = service.path("store.db")
        let copied = try await service.countersign(["store", "backup", service.path("copy.db").path])
        #expect(copied.status == 0, "\(copied.errors)")
        var bytes = try Data(contentsOf: store)
        // Behind the first pages: the schema stays readable.
        let pages = bytes.count / 4096
        for page in pages / 2..<pages {
            bytes.replaceSubrange(page * 4096..<page * 4096 + 512, with: Data(repeating: 0xA5, count: 512))
        }
        try bytes.write(to: store)
        let check = try await service.countersign(["store", "check", "--json"])
        #expect(check.status == 1 || check.status == 69)
        let whole = try await service.countersign([
            "store", "check", "--json", "--store", "sqlite:\(service.path("copy.db").path)",
        ])
        #expect(whole.status == 0, "\(whole.errors)")
    }

    @Test("tells a store that is behind this build, and brings it up to it")
    func migration() async throws {
        let service = try await RunningService()
        #expect(service.stop() == 0)
        let empty = service.path("empty.db")
        #expect(FileManager.default.createFile(atPath: empty.path, contents: nil))
        let place = ["--json", "--store", "sqlite:\(empty.path)"]
        let before = try await service.countersign(["store", "check"] + place)
        #expect(before.status == 1)
        #expect(before.errors.contains("store migrate"))
        let migrated = try StrictJSON.parse(
            Array(try await service.countersign(["store", "migrate"] + place).output.utf8))
        let after = try StrictJSON.parse(Array(try await service.countersign(["store", "check"] + place).output.utf8))
        #expect(migrated["from"] == .integer(0))
        #expect(migrated["to"] == after["schema_version"])
        #expect(after["valid"] == .bool(true))
    }

    @Test("fits its tables to the terminal, with colours there and nowhere else")
    func terminal() async throws {
        let service = try await RunningService()
        try await expectScript("Process/terminal.py", places(service))
        let plain = try await service.countersign(["audit", "tail"])
        #expect(!plain.output.contains("\u{1B}"))
        #expect(plain.output.hasPrefix("ENTRY"))
    }
}

@Suite("A table")
struct TableTests {
    private let rows = [["ID", "STATE"], ["0123456789", "enabled"], ["01", "x"]]

    @Test("stands in columns where it fits, and in blocks where it does not; nothing is cut off")
    func blocks() {
        #expect(Output.columns(rows, width: 19) == "ID          STATE\n0123456789  enabled\n01          x\n")
        #expect(
            Output.columns(rows, width: 18) == "ID     0123456789\nSTATE  enabled\n\nID     01\nSTATE  x\n")
        #expect(
            Output.columns([["name", "0123456789abc"]], width: 15) == "name  012345678\n      9abc\n")
        #expect(Output.columns([["DEVICE", "CERTIFIED"]], width: 10) == "DEVICE\nCERTIFIED\n")
    }
}
