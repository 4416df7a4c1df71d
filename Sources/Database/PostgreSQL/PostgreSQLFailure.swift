import CPostgreSQL
import Foundation

/// Why a transaction with PostgreSQL failed, which determines the next step.
enum PostgreSQLFailure: Error {
    /// The engine rolled the transaction back because of other transactions. It may succeed if it is run again.
    case conflict(StoreError)
    /// Another transaction has kept a lock for longer than the time limit.
    case locked(StoreError)
    /// Its turn did not come in time. It may succeed without its turn.
    case missedTurn(StoreError)
    /// The connection is unusable, and the transaction is known not to have committed.
    case lost(StoreError)
    /// The commit was sent, and its outcome is unknown.
    case outcomeUnknown(StoreError)
    /// A repetition would fail too.
    case refused(StoreError)

    /// The error for the store's caller.
    var error: StoreError {
        switch self {
        case .conflict(let error), .locked(let error), .lost(let error), .missedTurn(let error),
            .outcomeUnknown(let error), .refused(let error):
            error
        }
    }
}

extension PostgreSQLFailure {
    /// The connection does not respond, or is closed.
    static let disconnected = PostgreSQLFailure.lost(.unavailable(reason: "the connection to PostgreSQL was lost"))

    /// Parses an error result (PostgreSQL, appendix A: the classes of SQLSTATE).
    ///
    /// The server's message is kept only for errors in a statement's own text. Other messages repeat values.
    init(_ result: borrowing PostgreSQLResult) {
        guard let state = result.text(of: CPostgreSQL_state) else {
            self = .disconnected
            return
        }
        let known = "SQLSTATE \(state)"
        switch state {
        case "40001", "40P01": self = .conflict(.unavailable(reason: "it conflicted with other writers (\(known))"))
        case "55P03": self = .locked(.unavailable(reason: "another transaction has a lock (\(known))"))
        // Two sessions that create one table at once conflict in the catalogue.
        case "23505" where result.text(of: CPostgreSQL_schema) == "pg_catalog":
            self = .conflict(.unavailable(reason: "another session changes the schema (\(known))"))
        // They may also conflict in the name, even with IF NOT EXISTS.
        case "42710", "42P07":
            let sentence = result.text(of: CPostgreSQL_sentence) ?? "it exists already"
            self = .conflict(.statement(reason: "\(sentence) (\(known))"))
        case "23505": self = .refused(.constraint(kind: .unique))
        case "23503", "23001": self = .refused(.constraint(kind: .foreignKey))
        case "23502": self = .refused(.constraint(kind: .notNull))
        // The prepared statement is unknown, because the connection now leads to another server.
        case "26000", "25P03", "57P01", "57P02", "57P03":
            self = .lost(.unavailable(reason: "PostgreSQL ended the session (\(known))"))
        // A sharded engine lost contact with one of its own nodes (statement_completion_unknown).
        case "40003": self = .lost(.unavailable(reason: "PostgreSQL does not know its outcome (\(known))"))
        case "57014":
            self = .refused(.unavailable(reason: "a statement took longer than its time limit (\(known))"))
        case "53100": self = .refused(.unavailable(reason: "PostgreSQL's disk is full (\(known))"))
        default: self = Self.byClass(state, result)
        }
    }

    /// Parses an error result of `COMMIT`. Few codes mean that nothing was kept. The server may report any other after
    /// it has written its commit record, and a proxy or a sharded engine may report anything.
    init(commit result: borrowing PostgreSQLResult) {
        guard let state = result.text(of: CPostgreSQL_state) else {
            self = .outcomeUnknown(.outcomeUnknown(reason: "the commit was answered without an SQLSTATE"))
            return
        }
        switch state {
        case "40001", "40P01": self.init(result)
        case _ where state.hasPrefix("23"): self.init(result)
        case "25P02": self = .refused(.unavailable(reason: "the server rolled the commit back (SQLSTATE \(state))"))
        default: self = .outcomeUnknown(.outcomeUnknown(reason: "the commit was answered with SQLSTATE \(state)"))
        }
    }

    /// A server that became a standby, or was made read-only. Another host may be the primary now.
    static func isReadOnly(_ result: borrowing PostgreSQLResult) -> Bool {
        result.text(of: CPostgreSQL_state) == "25006"
    }

    private static func byClass(_ state: String, _ result: borrowing PostgreSQLResult) -> PostgreSQLFailure {
        let known = "SQLSTATE \(state)"
        switch state.prefix(2) {
        case "08": return .lost(.unavailable(reason: "the connection to PostgreSQL failed (\(known))"))
        case "23": return .refused(.constraint(kind: .check))
        case "0A", "42":
            let sentence = result.text(of: CPostgreSQL_sentence) ?? "it was refused"
            return .refused(.statement(reason: "\(sentence) (\(known))"))
        case "21", "22", "25", "26", "2F", "3D", "3F", "44": return .refused(.statement(reason: known))
        default: return .refused(.unavailable(reason: known))
        }
    }
}

/// The rules for running a body again, and its attempts so far.
struct PostgreSQLRetries {
    /// The maximum number of retries after lost connections: the first connection may have been stale, a second loss is
    /// real.
    private static let maximumLosses = 2
    /// The maximum number of retries of a schema change, which otherwise waits without a limit.
    private static let maximumMeetings = 100

    private let kind: PostgreSQLTransaction.Kind
    private let timeouts: PostgreSQLTimeouts
    private var deadline: ContinuousClock.Instant?
    private var losses = 0
    private var conflicts = 0
    private var locks = 0

    init(_ kind: PostgreSQLTransaction.Kind, _ timeouts: PostgreSQLTimeouts) {
        self.kind = kind
        self.timeouts = timeouts
    }

    /// The first attempt starts the time limit for all.
    mutating func begin() {
        if deadline == nil { deadline = .now + .seconds(timeouts.statement) }
    }

    /// The pause before the body is run again, in seconds.
    ///
    /// - Throws: the error to report if it is not run again.
    mutating func pause(after failure: PostgreSQLFailure) throws(StoreError) -> TimeInterval {
        switch failure {
        case .conflict(let error):
            conflicts += 1
            // An existing object is only expected if several sessions change the schema at once.
            if case .statement = error, kind != .alter { throw error }
            let isInTime = deadline.map { ContinuousClock.now < $0 } ?? true
            guard kind == .alter ? conflicts < Self.maximumMeetings : isInTime else { throw error }
            // A random pause keeps two writers from conflicting again and again.
            return .random(in: 0...min(0.064, 0.001 * Double(1 << min(conflicts, 6))))
        case .locked(let error):
            // A schema change that waits for its lock blocks all later transactions. So it fails after 100 ms, and the
            // pauses get longer, up to 3 s.
            guard kind == .alter else { throw error }
            locks += 1
            return .random(in: 0.5...1.5) * min(2, 0.1 * Double(1 << min(locks, 5)))
        case .missedTurn: return 0
        case .lost(let error):
            losses += 1
            guard losses <= Self.maximumLosses else { throw error }
            return 0
        case .outcomeUnknown(let error), .refused(let error): throw error
        }
    }
}

enum PostgreSQLEncoding {
    /// Refuses a database with another encoding than UTF-8. It would fail for texts with letters that it does not
    /// support, for single users. The server reports its encoding when a client connects.
    static func requireUTF8(of connection: OpaquePointer) throws(PostgreSQLFailure) {
        guard let encoding = PQparameterStatus(connection, "server_encoding").map({ String(cString: $0) }),
            encoding != "UTF8"
        else { return }
        let name = PQdb(connection).map { String(cString: $0) } ?? ""
        throw .refused(
            .url(
                reason:
                    "the database \(name) has the encoding \(encoding), and a store requires UTF8: create one with "
                    + "createdb --template=template0 --encoding=UTF8 --locale=C NAME"))
    }
}
