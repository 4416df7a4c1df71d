import Database
import Domain
import Encoding
import Foundation

/// How much of everything there is, counted by the store.
package struct StatusRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The sessions that may act, and those that must be renewed first: `Session/effectiveState(at:policy:)` as a count.
    /// Those that a cut has ended are among them until their rows follow: see ``cuts()``.
    package func sessions(policy: SessionPolicy) throws -> (authenticated: Int, challenged: Int) {
        let now = transaction.now.milliseconds
        func ago(_ seconds: TimeInterval) -> Value { .integer(now - Int64((seconds * 1000).rounded())) }
        let shift = Value.integer(Int64(((policy.absoluteLifetime - policy.idleLifetime) * 1000).rounded()))
        let authenticated = try count(
            """
            SELECT COUNT(*) FROM sessions WHERE state = 'authenticated' AND renewed_at > $1 AND last_used_at > $2
            """,
            [ago(policy.absoluteLifetime), ago(policy.idleLifetime)])
        let challenged = try count(
            """
            SELECT COUNT(*) FROM sessions WHERE state = 'challenged' AND challenged_at > $1
            """,
            [ago(policy.renewalWindow)])
        let idle = try count(
            """
            SELECT COUNT(*) FROM sessions WHERE state = 'authenticated' AND last_used_at <= $1
            AND last_used_at < renewed_at + $2 AND last_used_at > $3
            """, [ago(policy.idleLifetime), shift, ago(policy.idleLifetime + policy.renewalWindow)])
        return (authenticated, challenged + idle)
    }

    /// The cuts whose sessions' rows are being ended.
    package func cuts() throws -> Int { try count("SELECT COUNT(*) FROM cuts", []) }

    /// The users by level, as it is now.
    package func users() throws -> [Assurance: Int] {
        let columns = ColumnTuple(
            Column<Assurance>(
                "CASE WHEN assurance <> 'none' AND assurance_until <= $1 THEN 'phone' ELSE assurance END"),
            Column<Int>("COUNT(*)"))
        let rows = try transaction.query(
            "SELECT \(columns) FROM users GROUP BY 1", [.time(transaction.now)])
        return Dictionary(try rows.map(columns.read), uniquingKeysWith: +)
    }

    /// The device certificates that are valid, that were revoked or superseded, and that ran out without that.
    package func certificates() throws -> (valid: Int, revoked: Int, expired: Int) {
        let now = Value.time(transaction.now)
        return (
            try count("SELECT COUNT(*) FROM certificates WHERE revoked_at IS NULL AND not_after > $1", [now]),
            try count("SELECT COUNT(*) FROM certificates WHERE revoked_at IS NOT NULL", []),
            try count("SELECT COUNT(*) FROM certificates WHERE revoked_at IS NULL AND not_after <= $1", [now])
        )
    }

    /// How many devices there are.
    package func devices() throws -> Int { try count("SELECT COUNT(*) FROM devices", []) }

    /// The providers that are enabled, and those that were disabled.
    package func providers() throws -> (enabled: Int, disabled: Int) {
        (
            try count("SELECT COUNT(*) FROM providers WHERE disabled_at IS NULL", []),
            try count("SELECT COUNT(*) FROM providers WHERE disabled_at IS NOT NULL", [])
        )
    }

    private func count(_ sql: String, _ arguments: [Value]) throws -> Int {
        try transaction.value(sql, arguments) ?? 0
    }
}
