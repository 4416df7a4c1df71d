import CPostgreSQL
import Foundation

/// Why a conversation with PostgreSQL ended, and with it what may be done next.
enum PostgreSQLFailure: Error {
    /// The engine took the transaction back because of others: run from its start it may well succeed.
    case conflict(StoreError)
    /// Another transaction holds a lock for longer than this one was to wait.
    case locked(StoreError)
    /// Its turn did not come; without it, it may well succeed.
    case missedTurn(StoreError)
    /// The connection is of no more use, and the transaction is known not to have committed.
    case lost(StoreError)
    /// The commit was asked for, and no answer says whether it took place.
    case outcomeUnknown(StoreError)
    /// The same again would fail again.
    case refused(StoreError)

    /// What the caller of the store is told.
    var error: StoreError {
        switch self {
        case .conflict(let error), .locked(let error), .lost(let error), .missedTurn(let error),
            .outcomeUnknown(let error), .refused(let error):
            error
        }
    }
}

extension PostgreSQLFailure {
    /// The connection does not answer, or no longer exists.
    static let disconnected = PostgreSQLFailure.lost(.unavailable(reason: "the connection to PostgreSQL was lost"))

    /// Reads a result that tells of a failure (PostgreSQL, appendix A: the classes of SQLSTATE).
    ///
    /// The server's sentence is kept for what is wrong with a statement's own text only; others repeat values.
    init(_ result: borrowing PostgreSQLResult) {
        guard let state = result.text(of: CPostgreSQL_state) else {
            self = .disconnected
            return
        }
        let known = "SQLSTATE \(state)"
        switch state {
        case "40001", "40P01": self = .conflict(.unavailable(reason: "other writers were in the way (\(known))"))
        case "55P03": self = .locked(.unavailable(reason: "another transaction holds a lock (\(known))"))
        // Two sessions that make the same table at once meet in the catalogue.
        case "23505" where result.text(of: CPostgreSQL_schema) == "pg_catalog":
            self = .conflict(.unavailable(reason: "another session changes the schema (\(known))"))
        // They may also meet in the name of what they make, although it is made only where it is not there.
        case "42710", "42P07":
            let sentence = result.text(of: CPostgreSQL_sentence) ?? "it is there already"
            self = .conflict(.statement(reason: "\(sentence) (\(known))"))
        case "23505": self = .refused(.constraint(kind: .unique))
        case "23503", "23001": self = .refused(.constraint(kind: .foreignKey))
        case "23502": self = .refused(.constraint(kind: .notNull))
        // The prepared statement is gone: there is another server behind the connection than before.
        case "26000", "25P03", "57P01", "57P02", "57P03":
            self = .lost(.unavailable(reason: "PostgreSQL went away (\(known))"))
        // A sharded engine that lost sight of one of its own nodes (statement_completion_unknown).
        case "40003": self = .lost(.unavailable(reason: "PostgreSQL does not know what became of it (\(known))"))
        case "53100": self = .refused(.unavailable(reason: "PostgreSQL has no room left on its disk (\(known))"))
        default: self = Self.byClass(state, result)
        }
    }

    /// Reads a failure that answers `COMMIT`. Few of them say that nothing was kept: the server may report any other
    /// after its commit record is written, and a proxy or a sharded engine may report what it likes.
    init(commit result: borrowing PostgreSQLResult) {
        guard let state = result.text(of: CPostgreSQL_state) else {
            self = .outcomeUnknown(.outcomeUnknown(reason: "the commit was answered without an SQLSTATE"))
            return
        }
        switch state {
        case "40001", "40P01": self.init(result)
        case _ where state.hasPrefix("23"): self.init(result)
        case "25P02": self = .refused(.unavailable(reason: "the server took the commit back (SQLSTATE \(state))"))
        default: self = .outcomeUnknown(.outcomeUnknown(reason: "the commit was answered with SQLSTATE \(state)"))
        }
    }

    /// A server that became a standby, or was made read-only: another one may be the primary now.
    static func isReadOnly(_ result: borrowing PostgreSQLResult) -> Bool {
        result.text(of: CPostgreSQL_state) == "25006"
    }

    private static func byClass(_ state: String, _ result: borrowing PostgreSQLResult) -> PostgreSQLFailure {
        let known = "SQLSTATE \(state)"
        switch state.prefix(2) {
        case "08": return .lost(.unavailable(reason: "the connection to PostgreSQL failed (\(known))"))
        case "23": return .refused(.constraint(kind: .check))
        case "0A", "42":
            let sentence = result.text(of: CPostgreSQL_sentence) ?? "it is refused"
            return .refused(.statement(reason: "\(sentence) (\(known))"))
        case "21", "22", "25", "26", "2F", "3D", "3F", "44": return .refused(.statement(reason: known))
        default: return .refused(.unavailable(reason: known))
        }
    }
}

/// The rules by which a body is run again, and what came of it so far.
struct PostgreSQLRetries {
    /// How often a body is begun again after its connection was lost: the first may have been stale, the second is news.
    private static let maximumLosses = 2
    /// How often a change of the schema is begun again, which otherwise waits as long as it must.
    private static let maximumMeetings = 100

    private let kind: PostgreSQLTransaction.Kind
    private let timeouts: PostgreSQLTimeouts
    private var deadline: ContinuousClock.Instant?
    private var losses = 0
    private var conflicts = 0

    init(_ kind: PostgreSQLTransaction.Kind, _ timeouts: PostgreSQLTimeouts) {
        self.kind = kind
        self.timeouts = timeouts
    }

    /// The first attempt begins the time in which others may follow.
    mutating func begin() {
        if deadline == nil { deadline = .now + .seconds(timeouts.statement) }
    }

    /// How long to wait before the body is run again, in seconds.
    ///
    /// - Throws: the error to tell where it is not to be run again.
    mutating func pause(after failure: PostgreSQLFailure) throws(StoreError) -> TimeInterval {
        switch failure {
        case .conflict(let error):
            conflicts += 1
            // That something is there already is no mistake only where several make the schema at once.
            if case .statement = error, kind != .alter { throw error }
            let isInTime = deadline.map { ContinuousClock.now < $0 } ?? true
            guard kind == .alter ? conflicts < Self.maximumMeetings : isInTime else { throw error }
            // Chance keeps two writers from meeting again and again.
            return .random(in: 0...min(0.064, 0.001 * Double(1 << min(conflicts, 6))))
        case .locked(let error):
            // A change of the schema that waits keeps everybody waiting who comes behind it: it lets them go first.
            guard kind == .alter else { throw error }
            return .random(in: 1...3)
        case .missedTurn: return 0
        case .lost(let error):
            losses += 1
            guard losses <= Self.maximumLosses else { throw error }
            return 0
        case .outcomeUnknown(let error), .refused(let error): throw error
        }
    }
}

/// The encoding of a database.
enum PostgreSQLEncoding {
    /// Refuses a database of another encoding, which would refuse each text that it has no letters for, one user at a
    /// time. The server says its encoding by itself when it takes a connection.
    static func requireUTF8(of connection: OpaquePointer) throws(PostgreSQLFailure) {
        guard let encoding = PQparameterStatus(connection, "server_encoding").map({ String(cString: $0) }),
            encoding != "UTF8"
        else { return }
        let name = PQdb(connection).map { String(cString: $0) } ?? ""
        throw .refused(
            .url(
                reason:
                    "the database \(name) has the encoding \(encoding), and a store takes UTF8: make another one, with "
                    + "createdb --template=template0 --encoding=UTF8 --locale=C NAME"))
    }
}
