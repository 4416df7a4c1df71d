import Fixtures
import Foundation
import Testing

/// Runs one fault under load, and the check that no promise which a client was given is broken.
///
/// - Parameter namespaces: options of `unshare`, if the fault needs file systems or process numbers of its own. They go
///   with its processes.
func expectPromisesKept(_ fault: String, namespaces: [String] = [], seconds: Double = 400) async throws {
    let interpreter = try #require(ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"])
    let root = RunningService.root
    var command = [
        interpreter, root.appending(path: "Tests/Interop/Cluster/faults.py").path, fault,
        "--countersign", try RunningService.product("countersign"),
        "--policies", root.appending(path: "Policies").path,
    ]
    if !namespaces.isEmpty {
        let user = getuid() == 0 ? [] : ["--user", "--map-current-user", "--keep-caps"]
        command = ["unshare"] + namespaces + user + command
    }
    let result = try await Command.run(command[0], Array(command.dropFirst()), seconds: seconds)
    #expect(result.status == 0, "\(result.output.suffix(6000))\n\(result.errors.suffix(6000))")
}

/// What clients were told holds, whatever fails between the nodes and their store.
@Suite("Nodes in trouble", .serialized)
struct StoreFaultTests {
    @Test("A history with a broken promise is told from one without")
    func judge() async throws {
        let interpreter = try #require(ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"])
        let path = RunningService.root.appending(path: "Tests/Interop/Cluster/broken_promises.py").path
        let result = try await Command.run(interpreter, [path])
        #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    }

    @Test("A node is killed and another goes on; a halted node does not act for a user who was banned meanwhile")
    func kill() async throws {
        try await expectPromisesKept("kill")
    }

    @Test("Each commit takes 0.3 s: a ban on one node is in force on the other, which goes on answering")
    func slowCommits() async throws {
        try await expectPromisesKept("slow_commits")
    }

    @Test("The primary is killed and its synchronous standby promoted: 503 meanwhile, sessions again within 15 s")
    func failover() async throws {
        try await expectPromisesKept("failover")
    }

    @Test("A failover lost a commit that a node had read: the node forgets it, and misses nothing of what came after")
    func lostCommit() async throws {
        try await expectPromisesKept("lost_commit")
    }

    @Test(
        "A node that reaches an isolated primary alone refuses by itself within two seconds, though reads are answered")
    func isolated() async throws {
        try await expectPromisesKept("isolated")
    }

    @Test("A node that is halted during a restore accepts no nonce of before, and ends")
    func restored() async throws {
        try await expectPromisesKept("restored")
    }

    @Test("Connections to the store are reset at random points of transactions")
    func reset() async throws {
        try await expectPromisesKept("reset")
    }

    @Test(
        "A full file system is answered by 503, and room heals it: of a file, of a server's tables, of all of a server",
        arguments: Soak.isOn ? ["full_file", "full_server", "full_log"] : ["full_file"])
    func fullFileSystem(fault: String) async throws {
        try await expectPromisesKept(fault, namespaces: ["--mount"])
    }

    @Test("A node whose clock is 90 s off decides nothing, says so, and does not start")
    func clock() async throws {
        try await expectPromisesKept("clock")
    }
}

/// The longest of the faults, beside the others.
@Suite("A node without its store")
struct CutNodeTests {
    @Test("A node that is cut off for 30 s refuses, misses no ban, challenge or end, and recovers by itself")
    func cut() async throws {
        try await expectPromisesKept("cut")
    }
}
