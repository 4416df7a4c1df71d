import Domain
import Encoding
import Fixtures
import Foundation
import Testing

/// The built binary on PostgreSQL, alone and with other nodes beside it.
@Suite("Nodes on PostgreSQL", .serialized)
struct NodesTests {
    private func withService(
        policies: [String: String] = [:], arguments: [String] = [], _ body: (RunningService) async throws -> Void
    ) async throws {
        let store = try PostgreSQLCluster.shared.address(of: "service-\(UUID().uuidString)")
        let service = try await RunningService(policies: policies, arguments: arguments, store: store)
        try await body(service)
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains("internal_error"))
    }

    /// Three nodes on one store, and the script that asks them all.
    private func three(_ mode: String, policies: [String: String] = [:], arguments: [String] = []) async throws {
        try await withService(policies: policies, arguments: arguments) { service in
            let others = [try RunningService(besides: service), try RunningService(besides: service)]
            let output = try await expectScript(
                "Cluster/nodes.py",
                service.clientArguments
                    + others.flatMap {
                        ["--node", $0.publicURL, $0.clientURL, $0.opsURL, $0.path("texts.jsonl").path]
                    } + [
                        "--mode", mode, "--countersign", try RunningService.product("countersign"), "--directory",
                        service.directory.path, "--store", service.store,
                    ], seconds: 400)
            FileHandle.standardError.write(Data(output.utf8))
            for other in others {
                #expect(other.stop() == 0)
                #expect(!(try String(contentsOf: other.path("log"), encoding: .utf8)).contains("internal_error"))
            }
        }
    }

    @Test("A dump that pg_restore put into another database brings nothing back, once it was made fit")
    func restoredDump() async throws {
        let cluster = try PostgreSQLCluster.shared
        let names = ["restored", "replaced"].map { "\($0)-\(UUID().uuidString)" }
        let (here, replaced) = (try cluster.newDatabase(names[0]), try cluster.newDatabase(names[1]))
        let service = try await RunningService(store: replaced)
        let places = [
            "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
            "--identity", service.path("device").path,
        ]
        let dump = ([cluster.program("pg_dump")] + cluster.connection + ["-Fc", names[1], "-f"]).joined(separator: " ")
        try await expectScript(
            "Migration/restore.py",
            ["before"] + service.clientArguments + places + ["--store", replaced, "--dump", dump])
        #expect(service.stop() == 0)
        let put = try await Command.run(
            cluster.program("pg_restore"),
            cluster.connection + ["-d", names[0], service.path("backup.db").path])
        #expect(put.status == 0, "\(put.errors)")
        try await expectScript(
            "Migration/restore.py",
            ["restore"] + service.clientArguments + places + ["--store", here, "--replaced", replaced])
        let restored = try RunningService(besides: service, store: here)
        try await expectScript(
            "Migration/restore.py", ["after"] + restored.clientArguments + places + ["--store", here])
        #expect(restored.stop() == 0)
        let report = try await restored.countersign(["audit", "verify"])
        #expect(report.status == 0, "\(report.errors)")
    }

    @Test("One node keeps the whole contract, with the same clients as on a file")
    func contract() async throws {
        try await withService { service in
            try await expectScript("Sessions/flow.py", service.clientArguments, seconds: 400)
        }
    }

    @Test("What one of three nodes was told holds on all within a second; nonces and codes count once")
    func together() async throws {
        try await three("together")
    }

    @Test("Limits by number, address and card hold across three nodes")
    func limits() async throws {
        try await three(
            "limits",
            policies: [
                "phones.yaml": "sends_per_hour_per_number: 2\n", "cards.yaml": "submissions: 2\n",
                "certification.yaml": "per_hour_per_address: 5\n",
            ], arguments: ["--limits", "on"])
    }

    @Test("Three nodes share the outbox and send each of its texts once")
    func outbox() async throws {
        try await three("outbox")
    }

    /// What `serve` says with another node's store and own keys and policies; it ends by itself.
    private func refusal(
        besides place: (directory: URL, store: String), _ change: @Sendable (URL) throws -> Void,
        _ arguments: [String] = []
    ) async throws -> (status: Int32, errors: String) {
        try await withTemporaryDirectory { directory in
            for name in ["Keys", "Policies"] {
                try FileManager.default.copyItem(
                    at: place.directory.appending(path: name), to: directory.appending(path: name))
            }
            try change(directory)
            let result = try await Command.run(
                try RunningService.product("countersign"),
                [
                    "serve", "--store", place.store, "--keys", directory.appending(path: "Keys").path, "--policies",
                    directory.appending(path: "Policies").path, "--public", "127.0.0.1:0", "--client", "127.0.0.1:0",
                    "--ops", "127.0.0.1:0",
                ] + arguments)
            #expect(result.output.isEmpty)
            return (result.status, result.errors)
        }
    }

    private func anew(_ file: String) -> @Sendable (URL) throws -> Void {
        { directory in
            let text = "\(file == "nonce.key" ? "" : "1 ")\(Base64URL.encode([UInt8](repeating: 7, count: 32)))\n"
            let path = directory.appending(path: "Keys/\(file)")
            try text.write(to: path, atomically: false, encoding: .utf8)
        }
    }

    @Test("A node with another key, other policies or another realm is refused at its start, with the reason")
    func refused() async throws {
        try await withService { service in
            let change: @Sendable (URL) throws -> Void = {
                try "lifetime: 3m\n".write(
                    to: $0.appending(path: "Policies/nonces.yaml"), atomically: false, encoding: .utf8)
            }
            let place = (service.directory, service.store)
            async let nonce = refusal(besides: place, anew("nonce.key"))
            async let code = refusal(besides: place, anew("phone-code.key"))
            async let wrapping = refusal(besides: place, anew("wrapping.key"))
            async let index = refusal(besides: place, anew("blind-index.key"))
            async let policies = refusal(besides: place, change)
            async let realm = refusal(besides: place, { _ in }, ["--realm", "elsewhere"])
            let others = try await [("wrapping.key", wrapping), ("blind-index.key", index)]
            for (file, refusal) in others {
                let reason = "Keys/\(file) is not the key that this store was written with"
                #expect(refusal.status == 1 && refusal.errors.contains(reason), "\(refusal.errors)")
                #expect(!refusal.errors.contains(Base64URL.encode([UInt8](repeating: 7, count: 32))))
            }
            let refusals = try await [
                ("Keys/nonce.key differs from the file on the node on host ", nonce),
                ("Keys/phone-code.key differs from the file on the node on host ", code),
                ("Policies/nonces.yaml differs from the file on the node on host ", policies),
                ("The realm elsewhere differs from the realm of the node on host ", realm),
            ]
            for (reason, refusal) in refusals {
                #expect(refusal.status == 1 && refusal.errors.contains(reason), "\(refusal.errors)")
                #expect(refusal.errors.contains(" s ago: "), "\(refusal.errors)")
                #expect(!refusal.errors.contains(Base64URL.encode([UInt8](repeating: 7, count: 32))))
            }

            // A change that is rolled out: the second is let in, then the first follows.
            let second = try RunningService(besides: service, arguments: ["--allow-other-policies"], prepare: change)
            #expect(try await nodes(service).map { $0["policies_agree"] } == [.bool(false), .bool(false)])
            try FileManager.default.removeItem(at: service.path("Policies/nonces.yaml"))
            try change(service.directory)
            kill(service.processIdentifier, SIGHUP)
            var agreements: [JSONValue?] = []
            for _ in 0..<240 where agreements != [.bool(true), .bool(true)] {
                try await Task.sleep(for: .milliseconds(500))
                agreements = try await nodes(service).map { $0["policies_agree"] }
            }
            #expect(agreements == [.bool(true), .bool(true)])
            #expect(second.stop() == 0)
            #expect(try await nodes(service).count == 1)

            // An admin with other keys would ban nobody.
            try anew("blind-index.key")(second.directory)
            let admin = try await service.countersign(["ban", "list", "--keys", second.path("Keys").path])
            #expect(admin.status == 1)
            #expect(
                admin.errors.contains("Keys/blind-index.key is not the key that this store was written with"),
                "\(admin.errors)")
        }
    }

    private func nodes(_ service: RunningService) async throws -> [JSONValue] {
        let status = try await service.countersign(["status", "--json"])
        guard case .array(let nodes)? = try StrictJSON.parse(Array(status.output.utf8))["nodes"] else { return [] }
        return nodes
    }

    @Test("The wrapping key is rotated under two nodes that have it on disks of their own, and a third comes in")
    func rotation() async throws {
        try await withService { service in
            let second = try RunningService(besides: service)
            func rotate(_ more: [String] = []) async throws -> (status: Int32, output: String, errors: String) {
                try await service.countersign(["keys", "rotate"] + more)
            }
            func copy(from one: RunningService, to other: RunningService) throws {
                try Data(contentsOf: one.path("Keys/wrapping.key")).write(to: other.path("Keys/wrapping.key"))
            }
            #expect(try await rotate(["--stage"]).status == 0)
            try copy(from: service, to: second)
            #expect(try await rotate().status == 0)
            // Both read it again by themselves.
            let third = try RunningService(besides: service)
            #expect(try await rotate(["--prune"]).status == 0)
            let fourth = try RunningService(besides: service)
            // A file that lacks what a node has gets no version of its own.
            let old = try String(contentsOf: second.path("Keys/wrapping.key"), encoding: .utf8).split(separator: "\n")[
                0]
            try "\(old)\n".write(to: third.path("Keys/wrapping.key"), atomically: false, encoding: .utf8)
            let stale = try await service.countersign([
                "keys", "rotate", "--keys", third.path("Keys").path,
            ])
            #expect(stale.status == 1 && stale.errors.contains("copy wrapping.key from there first"), "\(stale.errors)")
            for node in [fourth, third, second] { #expect(node.stop() == 0) }
        }
    }
}
