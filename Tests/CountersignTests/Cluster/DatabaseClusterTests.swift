import Testing

/// The examples for Patroni, etcd and pgBackRest, on three addresses of this machine.
@Suite("A cluster of database servers")
struct DatabaseClusterTests {
    @Test("replaces a killed primary in time and loses no acknowledged write, and its backup undoes a mistake")
    func availability() async throws {
        // Patroni leaves PostgreSQL running when it is killed. It ends with the namespace.
        try await expectPromisesKept(
            "availability", namespaces: ["--pid", "--fork", "--kill-child", "--mount-proc"], seconds: 420)
    }
}
