import Testing

/// What operators upgrade: the service, and PostgreSQL.
@Suite("Versions of the service and of PostgreSQL", .serialized)
struct VersionTests {
    @Test("Nodes of this version and the next one share a store, forward and back: no call fails, also beside a backup")
    func rolling() async throws {
        try await expectPromisesKept("rolling")
    }

    @Test("A store comes to a new major version of PostgreSQL by a dump and by pg_upgrade, and its sessions go on")
    func majorVersion() async throws {
        try await expectPromisesKept("major_version")
    }
}
