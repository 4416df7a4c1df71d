import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Private contact discovery: a user learns which contacts can be found, and the service does not learn the contacts.
/// The device sends blinded numbers (RFC 9497), downloads parts of the set and compares them itself.
package extension Service {
    /// A bucket of the set, or a part of a large bucket with its last tag, if more entries follow.
    typealias DiscoveryPage = (entries: [DiscoveryBucket.Entry], next: [UInt8]?)

    /// The maximum size of one part as text, in bytes.
    static let largestDiscoveryPage = 2 * DiscoveryBucket.minimum * DiscoveryBucket.Entry.length

    /// The maximum number of blinded numbers in one request.
    private static let mostContacts = 64

    /// The key and the bucket names of the current week.
    ///
    /// - Throws: `Refusal` `not_verified` or `user_banned`; `unavailable`.
    func discoveryWeek(for session: Session) async throws -> (week: DiscoveryWeek, publicKey: [UInt8], bits: Int) {
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
        return (found.week, found.publicKey, found.bits)
    }

    /// Evaluates blinded numbers. First they are counted for the user's proven number. The count stays if the
    /// evaluation fails.
    ///
    /// - Throws: `Refusal` `malformed_request` for no or too many elements, or an element that is not in the group;
    ///   `not_found` for a week that is not available; `conflict` before a number is proven; `not_verified`,
    ///   `user_banned`, `rate_limited`, `unavailable`.
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

    /// Reads a bucket of a week's set, or a part of a large bucket.
    ///
    /// - Parameter tag: the last tag of the previous part; `nil` for the first part.
    /// - Throws: `Refusal` `not_found` for a week that is not available, or a bucket that it does not have;
    ///   `not_verified`, `user_banned`, `rate_limited`, `unavailable`.
    func discoveryEntries(
        week: Int64, bucket number: Int, bits: Int, after tag: [UInt8]?, for session: Session
    ) async throws -> DiscoveryPage {
        try await act(for: session) { transaction, _, _ in
            try requireDiscoverer(session, in: transaction)
            let entry = try findWeek(week, of: session, in: transaction)
            // A set that has grown needs more bits. Fewer bits select a larger part and reveal less.
            guard bits <= entry.bits, let bucket = DiscoveryBucket(number, bits: bits),
                tag.map({ $0.count == DiscoveryBucket.Entry.tagLength }) ?? true
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
                return (Array(found.prefix(size)), found[size - 1].tag)
            }
            guard tag == nil else { return (found, nil) }
            return (try bucket.padded(found, secret: entry.padding), nil)
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
