import Fixtures
import Foundation
import Testing

@testable import Database

/// Answers that come in TLS records larger than what libpq takes at once.
@Suite struct TLSRecordTests {
    @Test("Answers of every length come whole through a proxy that writes the largest TLS records")
    func largeRecords() async throws {
        try await withTemporaryDirectory { directory in
            let (certificate, key) = (directory.path + "/server.pem", directory.path + "/server.key")
            let made = try await Command.run(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
                ])
            try #require(made.status == 0, "\(made.errors)")
            let server = try #require(try PostgreSQLCluster.shared.connection.dropFirst().first)
            let proxy = try await PythonProcess(
                "Stores/store_tls_proxy.py", [server + "/.s.PGSQL.5432", certificate, key])
            var timeouts = PostgreSQLTimeouts()
            // A stall is given up after ten seconds; the bound is for the whole of a statement's wait.
            timeouts.statement = 5
            let store = PostgreSQLDatabase(
                try PostgreSQLAddress(
                    "postgresql://countersign@127.0.0.1:\(proxy.firstLine)/postgres?sslmode=require"),
                timeouts: timeouts)
            for length in 1...300 {
                let rows = try await store.read { transaction in
                    try transaction.query(
                        "SELECT n, repeat('x', 200) FROM generate_series(1, $1) AS n", [Value(length)])
                }
                try #require(rows.count == length)
            }
            try await store.close()
            withExtendedLifetime(proxy) {}
        }
    }
}
