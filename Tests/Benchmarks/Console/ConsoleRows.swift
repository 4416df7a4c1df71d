import Database
import Domain
import Fixtures
import Foundation

/// Rows that the pages of the console read, made inside a PostgreSQL store: ten million users in minutes.
struct ConsoleRows {
    let store: String
    let provider: BenchmarkProvider
    /// A device with a certificate, of which the others are copies.
    let device: LoadDevice
    let users: Int

    /// Eight of a user, on one device.
    var sessions: Int { max(Self.perUser, users / 10) }
    private var cards: Int { max(1, users / 100) }
    private static let perUser = 8
    private static let atOnce = 500_000

    /// What the rows of a kind are, and how many there are: `n.i` is the number of each.
    private typealias Kind = (name: String, count: Int, insertion: String)

    /// Identifiers are spread over the whole index, as real ones are.
    private static func id(_ kind: String, _ number: String) -> String {
        "CAST(CAST(md5('\(kind) ' || (\(number))) AS UUID) AS TEXT)"
    }

    /// Inserts everything.
    func add() async throws {
        let database = try StoreURL.parse(store).open(clock: { Date() })
        let start = ContinuousClock.now
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        for kind in [people, devices, certificates, opened, signedIn, shown, banned, held, dead, recorded] {
            for first in stride(from: 0, to: kind.count, by: Self.atOnce) {
                let range = [first, min(kind.count, first + Self.atOnce) - 1].map { Value.integer(Int64($0)) }
                let arguments = range + [.text(provider.id.description), .integer(now)]
                // Each statement has all arguments, whether or not it needs them.
                let numbers = "(SELECT i, $3 AS provider, $4 AS now FROM generate_series($1, $2) AS numbers(i)) AS n"
                _ = try await database.alter {
                    try $0.execute(kind.insertion.replacing("FROM n", with: "FROM \(numbers)"), arguments)
                }
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            FileHandle.standardError.write(Data("  … \(kind.count) \(kind.name) after \(seconds.places(0)) s\n".utf8))
        }
        _ = try await database.alter {
            try $0.execute(
                "UPDATE audit_head SET sequence = sequence + $1, digest = sha256('seeded')",
                [.integer(Int64(recorded.count))])
        }
        _ = try await database.alter { try $0.execute("ANALYZE") }
        try await database.close()
    }

    private var people: Kind {
        (
            "users", users,
            """
            INSERT INTO users (id, provider_id, external_id, assurance, created_at, held)
            SELECT \(Self.id("user", "n.i")), n.provider, 'stored-' || n.i, 'none', n.now - n.i, 0 FROM n
            """
        )
    }

    private var devices: Kind {
        (
            "devices", sessions / Self.perUser,
            """
            INSERT INTO devices (id, user_agent, created_at, held)
            SELECT \(Self.id("device", "n.i")), 'Load', n.now - n.i, 0 FROM n
            """
        )
    }

    private var certificates: Kind {
        (
            "certificates", sessions / Self.perUser,
            """
            INSERT INTO certificates (
                thumbprint, serial, device_id, key_hash, subject_public_key_info, authority, not_before, not_after, issued_at
            )
            SELECT sha256(CAST('seeded ' || n.i AS BYTEA)), md5('serial ' || n.i), \(Self.id("device", "n.i")),
                sha256(CAST('key ' || n.i AS BYTEA)), c.subject_public_key_info, c.authority, c.not_before, c.not_after,
                n.now - n.i
            FROM n CROSS JOIN (SELECT * FROM certificates WHERE device_id = '\(device.id)' LIMIT 1) AS c
            """
        )
    }

    private var opened: Kind {
        let user = "n.i / \(Self.perUser)"
        return (
            "sessions", sessions,
            """
            INSERT INTO sessions (
                id, token_hash, user_id, provider_id, external_id, application_id, device_id, thumbprint, provider_key_id,
                user_generation, device_generation, provider_generation, key_generation, state, created_at, renewed_at,
                last_used_at
            )
            SELECT \(Self.id("session", "n.i")), sha256(CAST('token ' || n.i AS BYTEA)), \(Self.id("user", user)),
                n.provider, 'stored-' || \(user), '\(provider.application)', \(Self.id("device", user)),
                sha256(CAST('seeded ' || \(user) AS BYTEA)), '\(provider.rs256.id)', 0, 0, 0, 0, 'authenticated',
                n.now - n.i, n.now - n.i, n.now
            FROM n
            """
        )
    }

    private var signedIn: Kind {
        let user = "n.i / \(Self.perUser)"
        return (
            "sign-ins", sessions,
            """
            INSERT INTO sign_ins (
                id, at, act, provider_id, user_id, session_id, provider_key_id, application_id, device_id
            )
            SELECT \(Self.id("sign-in", "n.i")), n.now - n.i, 'open', n.provider, \(Self.id("user", user)),
                \(Self.id("session", "n.i")), '\(provider.rs256.id)', '\(provider.application)',
                \(Self.id("device", user))
            FROM n
            """
        )
    }

    /// Their facts are sealed with no key, like those of erased users.
    private var shown: Kind {
        (
            "cards in review", cards,
            """
            INSERT INTO identity_cards (
                id, user_id, provider_id, status, sealed_facts, checks, assurance, document_index, person_index,
                submitted_at
            )
            SELECT \(Self.id("card", "n.i")), \(Self.id("user", "n.i")), n.provider, 'in_review', '\\x00', '[]', 'barcode',
                sha256(CAST('document ' || n.i AS BYTEA)), sha256(CAST('person ' || n.i / 2 AS BYTEA)), n.now - n.i
            FROM n
            """
        )
    }

    private var banned: Kind {
        (
            "bans", cards,
            """
            INSERT INTO bans (id, kind, scope, reason, actor, created_at)
            SELECT \(Self.id("ban", "n.i")), 'user', 'messaging', 'spam', 'admin seed', n.now - n.i FROM n
            """
        )
    }

    private var held: Kind {
        (
            "entries of bans", cards,
            """
            INSERT INTO ban_holds (ban_id, kind, subject, part, goes_with_ban)
            SELECT \(Self.id("ban", "n.i")), 'user', decode(md5('user ' || n.i), 'hex'), 'named', 0 FROM n
            """
        )
    }

    private var dead: Kind {
        (
            "dead messages", cards,
            """
            INSERT INTO outbox (
                id, kind, owner, subject, user_id, deduplication_key, payload, created_at, expires_at, due_at, tries, state,
                ended_at
            )
            SELECT \(Self.id("message", "n.i")), 'provider_event', n.provider, n.provider, \(Self.id("user", "n.i")),
                'seeded ' || n.i, '\\x01', n.now - n.i, n.now + 864000000, n.now, 0, 'dead', n.now
            FROM n
            """
        )
    }

    /// Entries of the audit log, ten of a user, with digests that nobody verifies here.
    private var recorded: Kind {
        (
            "audit entries", sessions,
            """
            INSERT INTO audit_entries (id, at, event, subject, actor, sequence, digest)
            SELECT \(Self.id("entry", "n.i")), n.now - \(sessions) + n.i, 'session_ended',
                'user ' || \(Self.id("user", "n.i / 10")), 'admin seed', h.sequence + n.i + 1, sha256('seeded')
            FROM n CROSS JOIN (SELECT sequence FROM audit_head WHERE id = 1) AS h
            """
        )
    }
}

extension ConsoleRows {
    /// The ids in the paths of pages.
    struct Sample: Sendable {
        let user: String
        let session: String
        let device: String
        let ban: String
        let card: String
        let serial: String
    }

    /// Some users with sessions, spread over all of them, each with a device, a session, a ban and a card.
    func samples(_ count: Int) async throws -> [Sample] {
        let database = try StoreURL.parse(store).open(clock: { Date() })
        let kinds = ["user", "session", "device", "ban", "card"]
        var samples: [Sample] = []
        for index in 0..<count {
            let number = index * max(1, sessions / Self.perUser / count)
            let numbers = [number, number * Self.perUser, number, number % cards, number % cards]
            let list = zip(kinds, numbers).map { Self.id($0, String($1)) } + ["md5('serial \(number)')"]
            let row = try await database.read { try $0.first("SELECT \(list.joined(separator: ", "))") }
            guard let row else { throw BenchmarkError("no sample") }
            samples.append(
                Sample(
                    user: try row.text(0), session: try row.text(1), device: try row.text(2), ban: try row.text(3),
                    card: try row.text(4), serial: try row.text(5)))
        }
        try await database.close()
        return samples
    }
}
