import Fixtures
import Foundation
import Testing

@Suite("A real OpenID provider")
struct OpenIDTests {
    @Test("is registered by its URL, and signs its users in by its ID tokens")
    func glewlwyd() async throws {
        let scratch = try ScratchDirectory()
        try await expectScript(
            "Providers/openid.py",
            [
                "--countersign", try RunningService.product("countersign"), "--policies",
                RunningService.root.appending(path: "Policies").path, "--directory", scratch.path,
            ], seconds: 400)
    }

    @Test("runs by the recipe, and two nodes on PostgreSQL take its ID tokens after one of them has read its keys")
    func nodes() async throws {
        let cluster = try PostgreSQLCluster.shared
        let name = "openid-\(UUID().uuidString)"
        let scratch = try ScratchDirectory()
        try await expectScript(
            "Providers/openid_nodes.py",
            [
                "--countersign", try RunningService.product("countersign"), "--policies",
                RunningService.root.appending(path: "Policies").path, "--directory", scratch.path, "--store",
                try cluster.newDatabase(name), "--psql",
                ([cluster.program("psql")] + cluster.connection + ["-d", name]).joined(separator: " "),
            ], seconds: 400)
    }
}
