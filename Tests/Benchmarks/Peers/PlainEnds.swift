import Fixtures
import Foundation

/// What PostgreSQL's own load program ends in the same server: rows of a table with one index, each by one statement
/// with an entry in a log. It says what the machine, its disk and the server can do without anything of ours.
struct PlainEnds {
    let cluster: PostgreSQLCluster
    let stored: Int
    /// How many each connection ends.
    let count: Int

    static let clients = 24

    private static let script = """
        WITH done AS (
            UPDATE plain_sessions SET state = 0, ended_at = 1
            WHERE id = md5((:id)::text)::uuid
                AND generation = (SELECT generation FROM plain_users WHERE id = plain_sessions.user_id)
            RETURNING token_hash)
        INSERT INTO plain_log SELECT nextval('plain_numbers'), 1, token_hash FROM done;
        """

    /// How many a second.
    func run() async throws -> Double {
        try cluster.run(
            """
            CREATE TABLE plain_users (id uuid PRIMARY KEY, generation bigint NOT NULL);
            CREATE TABLE plain_sessions (
                id uuid PRIMARY KEY, token_hash bytea NOT NULL, user_id uuid NOT NULL, state smallint NOT NULL,
                ended_at bigint, generation bigint NOT NULL);
            CREATE TABLE plain_log (n bigint PRIMARY KEY, kind smallint NOT NULL, key bytea NOT NULL);
            CREATE SEQUENCE plain_numbers CACHE 1000;
            INSERT INTO plain_users SELECT md5('user' || i)::uuid, 0 FROM generate_series(0, 999) AS i;
            INSERT INTO plain_sessions
                SELECT md5(i::text)::uuid, sha256(i::text::bytea), md5('user' || i % 1000)::uuid, 1, NULL, 0
                FROM generate_series(1, \(stored)) AS i;
            CREATE INDEX plain_open ON plain_sessions (user_id) WHERE state <> 0;
            """)
        try cluster.run("VACUUM ANALYZE")
        let scratch = try ScratchDirectory()
        let file = try scratch.write(Data("\\set id random(1, \(stored))\n\(Self.script)\n".utf8), "end.sql")
        let made = try await Command.run(
            cluster.program("pgbench"),
            cluster.connection + [
                "-n", "-M", "prepared", "-c", "\(Self.clients)", "-j", "2", "-t", "\(count)", "-f", file, "postgres",
            ])
        let line = made.output.split(separator: "\n").first { $0.hasPrefix("tps = ") }
        guard made.status == 0, let rate = line?.split(separator: " ").dropFirst(2).first.flatMap({ Double($0) }) else {
            throw BenchmarkError("pgbench: \(made.errors)")
        }
        return rate
    }
}
