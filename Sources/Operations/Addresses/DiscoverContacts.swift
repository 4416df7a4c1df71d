import Database
import Domain
import Encoding
import Foundation
import Repositories

/// What a device must know of a week: its key, and how buckets are named.
package struct DiscoveryWeekKey: Sendable {
    package let week: DiscoveryWeek
    package let publicKey: [UInt8]
    package let bits: Int
}

/// A part of the set.
package struct DiscoveryPage: Sendable {
    /// Bytes of one part at most, as text.
    package static let largest = 2 * DiscoveryBucket.minimum * DiscoveryEntry.length

    package let entries: [DiscoveryEntry]
    /// The last tag, if there are more.
    package let next: [UInt8]?
}

/// Private contact discovery: a user learns which of their contacts can be found, and the service does not learn whom they
/// asked for. The device sends blinded numbers (RFC 9497), downloads parts of the set and compares by itself.
package extension Service {
    /// Blinded numbers in one request.
    private static let mostContacts = 64

    /// The week of now.
    ///
    /// - Throws: `Refusal` `not_verified` or `user_banned`; `unavailable`.
    func discoveryWeek(for session: Session) async throws -> DiscoveryWeekKey {
        let seed = environment.randomBytes(32)
        var found = try await read(for: session) { transaction, _ -> DiscoveryKeyRepository.Entry? in
            try requireDiscoverer(session, in: transaction)
            return try discoveryKeys(in: transaction).find(
                DiscoveryWeek(at: transaction.now), of: session.providerID)
        }
        if found == nil {
            found = try await act(for: session) { transaction, _, _ in
                try discoveryKeys(in: transaction).findOrCreate(
                    DiscoveryWeek(at: transaction.now), of: session.providerID, seed: seed)
            }
        }
        guard let found else { throw Refusal.unknownWeek }
        return DiscoveryWeekKey(week: found.week, publicKey: found.publicKey, bits: found.bits)
    }

    /// Evaluates blinded numbers. They are counted for the user's proven number first, and stay counted.
    ///
    /// - Throws: `Refusal` `malformed_request` for too many, none, or what is no element of the group; `not_found` for a week
    ///   that is not answered; `conflict` before a number is proven; `not_verified`, `user_banned`, `rate_limited`,
    ///   `unavailable`.
    func evaluateContacts(
        _ blinded: [[UInt8]], week: Int64, for session: Session
    ) async throws -> [[UInt8]] {
        guard (1...Self.mostContacts).contains(blinded.count) else {
            throw Refusal.wrongNumberOfContacts(allowed: Self.mostContacts)
        }
        let keys = keys.personal
        let key = try await act(for: session) { transaction, _, _ in
            try requireDiscoverer(session, in: transaction)
            let entry = try findWeek(week, of: session, in: transaction)
            guard let number = try AuthenticatedUserRepository(transaction, keys: keys).numberIndex(of: session.userID)
            else {
                throw Refusal.phoneRequired
            }
            try countContacts(blinded.count, for: number, in: transaction)
            return entry.key
        }
        do {
            return try await node.contactEvaluator.evaluate(blinded, key)
        } catch is ObliviousKey.NoElement {
            throw Refusal.unreadableContact
        }
    }

    /// Reads a bucket of a week's set, or a part of a large one.
    ///
    /// - Parameter tag: the last one of the part before; `nil` for the first part.
    /// - Throws: `Refusal` `not_found` for a week that is not answered, or a bucket that it does not have; `not_verified`,
    ///   `user_banned`, `rate_limited`, `unavailable`.
    func discoveryEntries(
        week: Int64, bucket number: Int, bits: Int, after tag: [UInt8]?, for session: Session
    ) async throws -> DiscoveryPage {
        try await act(for: session) { transaction, _, _ in
            try requireDiscoverer(session, in: transaction)
            let entry = try findWeek(week, of: session, in: transaction)
            // A set that has grown has more bits: fewer give a larger part, and tell less.
            guard bits <= entry.bits, let bucket = DiscoveryBucket(number, bits: bits),
                tag.map({ $0.count == DiscoveryEntry.tagLength }) ?? true
            else { throw Refusal.unknownBucket }
            if rateLimiting == .on {
                try RateRepository(transaction).count(
                    "discovery \(session.userID)",
                    limit: RateLimit(count: policy[\.addresses].downloadsPerHour, per: 3600))
            }
            let size = DiscoveryBucket.minimum
            let found = try DiscoveryRepository(transaction).list(
                bucket, after: tag, in: entry.week, of: session.providerID, limit: size + 1)
            if found.count > size {
                return DiscoveryPage(entries: Array(found.prefix(size)), next: found[size - 1].tag)
            }
            guard tag == nil else { return DiscoveryPage(entries: found, next: nil) }
            return DiscoveryPage(entries: try bucket.padded(found, secret: entry.padding), next: nil)
        }
    }

    private func requireDiscoverer(_ session: Session, in transaction: any Transaction) throws {
        try AuthorizationParties(required: policy[\.addresses].requiredLevel, in: transaction).requireCaller(
            session.userID)
    }

    private func findWeek(
        _ number: Int64, of session: Session, in transaction: any Transaction
    ) throws -> DiscoveryKeyRepository.Entry {
        let week = DiscoveryWeek(number)
        guard
            (DiscoveryWeek.oldest(at: transaction.now).number...DiscoveryWeek(at: transaction.now).number)
                .contains(number),
            let entry = try discoveryKeys(in: transaction).find(week, of: session.providerID)
        else { throw Refusal.unknownWeek }
        return entry
    }

    private func countContacts(_ evaluations: Int, for number: Digest256, in transaction: any Transaction) throws {
        guard rateLimiting == .on else { return }
        let limit = policy[\.addresses].evaluationsPerDay
        guard try !DiscoveryRepository(transaction).count(evaluations, for: number, limit: limit) else { return }
        let left = 86_400 - transaction.now.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400)
        throw Refusal.contactsExhausted(
            limit, retryAfter: max(1, Int(saturating: left.rounded(.up))))
    }
}
