import Database
import Foundation

/// The certificate revocation list in force, numbered (RFC 5280 §5.2.3).
public struct RevocationListRecords {
    private let transaction: any Transaction

    /// Works inside a transaction.
    public init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// A list as published.
    public struct Published: Sendable {
        /// Its number, growing.
        public let number: Int64
        /// Its DER form.
        public let der: [UInt8]
        /// When it was made.
        public let thisUpdate: Date
    }

    /// The list in force.
    public func current() throws -> Published? {
        try transaction.first(
            "SELECT number, der, this_update FROM revocation_lists ORDER BY number DESC LIMIT 1", []
        ).map { Published(number: try $0.integer(0), der: try $0.bytes(1), thisUpdate: try $0.time(2)) }
    }

    /// Puts a list in force and drops the ones before it.
    public func publish(number: Int64, der: [UInt8], thisUpdate: Date, nextUpdate: Date) throws {
        try transaction.execute(
            "INSERT INTO revocation_lists (number, der, this_update, next_update) VALUES ($1, $2, $3, $4)",
            [.integer(number), .bytes(der), .time(thisUpdate), .time(nextUpdate)])
        try transaction.execute("DELETE FROM revocation_lists WHERE number < $1", [.integer(number)])
    }
}
