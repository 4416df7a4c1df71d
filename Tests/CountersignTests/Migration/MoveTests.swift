import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

/// `store copy` and `store reopen` through the built binary.
@Suite("Moving fixture", .serialized)
struct MoveTests {
    private func countersign(_ arguments: [String], seconds: Double = 400) async throws -> Command.Result {
        try await Command.run(try RunningService.product("countersign"), arguments, seconds: seconds)
    }

    /// A store with devices and their certificates, and many small rows.
    private func makeStore(_ path: String) async throws {
        let store = try SQLiteDatabase(path: path, clock: { Date() })
        try await store.migrate(Schema.migrations)
        var random = SeededRandom(seed: 1)
        let ids = (0..<3000).map { _ in UUID(uuid: uuid(&random)).uuidString.lowercased() }
        try await store.write { transaction in
            try transaction.execute(
                "INSERT INTO devices (id, created_at, held) VALUES ($1, $2, 0)", rows: ids.map { [.text($0), 1] })
            try transaction.execute(
                """
                INSERT INTO certificates (thumbprint, serial, device_id, key_hash, subject_public_key_info, authority,
                    not_before, not_after, issued_at) VALUES ($1, $2, $3, $1, $1, $1, 1, 2, 1)
                """, rows: ids.map { [.bytes(Array($0.utf8)), .text("serial \($0)"), .text($0)] })
            try transaction.execute(
                "INSERT INTO rates (key, arrival) VALUES ($1, 1)",
                rows: ids.flatMap { id in
                    (0..<4).map { [.text("\(id) \($0)")] }
                })
        }
        try await store.close()
    }

    private func uuid(_ random: inout SeededRandom) -> uuid_t {
        let halves = (random.next(), random.next())
        return withUnsafeBytes(of: halves) { $0.loadUnaligned(as: uuid_t.self) }
    }

    @Test("is gone on with after the process was killed at random points, and ends with equal tables")
    func killed() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "source.db").path
            try await makeStore(file)
            let target = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
            let arguments = ["store", "copy", "sqlite:\(file)", target]
            var (random, kills) = (SeededRandom(seed: 20), 0)
            let rounds = Soak.count(8, soak: 20)
            for round in 0..<rounds {
                do {
                    let ended = try await countersign(
                        arguments + (round < rounds * 3 / 5 ? [] : ["--final", "--yes"]),
                        seconds: .random(in: 0.15...0.8, using: &random))
                    #expect(ended.status == 0, "\(ended.errors)")
                } catch Command.Failure.timedOut {
                    kills += 1
                }
            }
            #expect(kills > 0)
            let last = try await countersign(arguments + ["--final", "--yes", "--json"])
            #expect(last.status == 0, "\(last.errors)")
            let value = try StrictJSON.parse(Array(last.output.utf8))
            #expect(value["finished"] == .bool(true) && value["equal"] == .bool(true))
            let store = try StoreURL.parse(target).open(clock: { Date() })
            try await store.migrate(Schema.migrations)
            let counts = try await store.read { transaction in
                try ["devices", "certificates", "rates"].map {
                    try transaction.first("SELECT count(*) FROM \($0)")?.integer(0)
                }
            }
            try await store.close()
            #expect(counts == [3000, 3000, 12_000])
        }
    }

    @Test("moves a running service's store under load, and no acknowledged session is missing where it went")
    func live() async throws {
        let service = try await RunningService()
        let identity = ["--record", service.path("acknowledged.jsonl").path, "--identity", service.path("device").path]
        let target = try PostgreSQLCluster.shared.address(of: "move-\(UUID().uuidString)")
        let copy = ["store", "copy", service.store, target]
        let arguments = service.clientArguments + identity
        async let load = expectScript("Migration/load.py", arguments + ["--seconds", "5"])
        try await Task.sleep(for: .seconds(2))
        for _ in 0..<2 {
            // Under load the last look may find new rows already: then the exit code says so.
            let run = try await service.countersign(copy + ["--json"])
            #expect(run.status == 0 || run.status == 1, "\(run.errors)")
            let value = try StrictJSON.parse(Array(run.output.utf8))
            #expect(value["finished"] == .bool(false))
        }
        _ = try await load
        // One that was forgotten: the service is still running, and is shut out.
        let asked = try await service.countersign(copy + ["--final"])
        #expect(asked.status == 1 && asked.errors.contains("--yes"))
        #expect(service.stop() == 0)
        let moved = try await service.countersign(copy + ["--final", "--yes", "--json"])
        #expect(moved.status == 0, "\(moved.errors)")
        let value = try StrictJSON.parse(Array(moved.output.utf8))
        #expect(value["finished"] == .bool(true) && value["equal"] == .bool(true))

        // Nothing starts on the old store by mistake, and the sentence names the new place without what is secret in it.
        let error = #expect(throws: RunningService.NotReady.self) { try service.start() }
        #expect(error?.description.contains("was moved to postgresql://") == true)
        for command in [["session", "list"], ["store", "check"], ["status"], ["store", "migrate"]] {
            let refused = try await service.countersign(command)
            #expect(refused.status == 1 && refused.errors.contains("was moved to postgresql://"), "\(command)")
        }

        let there = try RunningService(besides: service, store: target)
        try await expectScript("Migration/load.py", there.clientArguments + identity + ["--check"], seconds: 400)
        #expect(there.stop() == 0)
        let audit = try await there.countersign(["audit", "verify"])
        #expect(audit.status == 0, "\(audit.errors)")

        // And back, into a file.
        let file = "sqlite:\(service.path("back.db").path)"
        let back = try await service.countersign(["store", "copy", target, file, "--final", "--yes"])
        #expect(back.status == 0, "\(back.errors)")
        let again = try RunningService(besides: service, store: file)
        try await expectScript("Migration/load.py", again.clientArguments + identity + ["--check"], seconds: 400)
        #expect(again.stop() == 0)
        let check = try await again.countersign(["store", "check"])
        #expect(check.status == 0, "\(check.errors)")
    }

    @Test("shuts a running service out of a store that was moved, and reopening lets the next one in")
    func terminateSessions() async throws {
        let service = try await RunningService()
        let copy = ["store", "copy", service.store, "sqlite:\(service.path("new.db").path)", "--final", "--yes"]
        let refused = try await service.countersign(copy)
        #expect(refused.status == 1 && refused.errors.contains("Nodes serve this store ("), "\(refused.errors)")
        #expect(refused.errors.contains("--cut"), "\(refused.errors)")
        let identity = ["--record", service.path("acknowledged.jsonl").path, "--identity", service.path("device").path]
        let arguments = service.clientArguments + identity
        async let load = expectScript("Migration/load.py", arguments + ["--seconds", "4"])
        try await Task.sleep(for: .seconds(2))
        let moved = try await service.countersign(copy + ["--cut"])
        #expect(moved.status == 0, "\(moved.errors)")
        _ = try await load
        // It says so and ends by itself, with the code and the sentence of a start on such a store.
        #expect(service.ended(within: 120) == 1)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(log.contains("\"message\":\"the store was moved: this node ends"), "\(log.suffix(2000))")
        #expect(log.contains("countersign: This store was moved to sqlite:\(service.path("new.db").path)"))
        let there = try RunningService(besides: service, store: "sqlite:\(service.path("new.db").path)")
        let record = try String(contentsOf: service.path("acknowledged.jsonl"), encoding: .utf8)
        #expect(!record.isEmpty)
        let interpreter = try #require(ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"])
        let script = RunningService.root.appending(path: "Tests/Interop/Migration/load.py").path
        let checked = try await Command.run(
            interpreter, [script] + there.clientArguments + identity + ["--check"])
        #expect(checked.output.contains(" 0 lost") && checked.output.contains(" 0 revived"), "\(checked.output)")
        #expect(there.stop() == 0)

        #expect(try await service.countersign(["store", "reopen", "--lost"]).status == 1)
        #expect(try await service.countersign(["store", "reopen", "--yes"]).status == 2)
        let reopened = try await service.countersign([
            "store", "reopen", "--replaced", "sqlite:\(service.path("new.db").path)", "--reason", "ticket:1", "--yes",
        ])
        #expect(reopened.status == 0, "\(reopened.errors)")
        try service.start()
        // What was ended on the copy does not come back to life: nothing of before does.
        let live = try await service.countersign(["session", "list", "--json"])
        #expect(try StrictJSON.parse(Array(live.output.utf8)) == .array([]), "\(live.output)")
        let audit = try await service.countersign(["audit", "tail", "--json"])
        #expect(audit.output.contains("store_restored"), "\(audit.output)")
        #expect(service.stop() == 0)
    }
}
