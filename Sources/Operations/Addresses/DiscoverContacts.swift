import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Private contact discovery: a user learns which of their contacts can be found, and the service does not learn whom they
/// asked for. The device sends blinded numbers (RFC 9497), downloads parts of the set and compares by itself.
package struct DiscoverContacts: Sendable {
    private let context: Service
    private let evaluator = Evaluator()

    package init(_ context: Service) {
        self.context = context
    }

    /// Blinded numbers in one request.
    package static let maximumElements = 64
    /// Bytes of one part of a set at most, as text.
    package static let largestPage = 2 * DiscoveryBucket.minimum * DiscoveryEntry.length

    /// What a device must know of a week: its key, and how buckets are named.
    package struct Week: Sendable {
        package let week: DiscoveryWeek
        package let publicKey: [UInt8]
        package let bits: Int
    }

    /// The week of now.
    ///
    /// - Throws: `Refusal` `not_verified` or `user_banned`; `unavailable`.
    package func week(for session: Session) async throws -> Week {
        let seed = context.environment.randomBytes(32)
        var found = try await context.read(for: session) { transaction, _ -> DiscoveryKeyRepository.Entry? in
            try requireCaller(session, in: transaction)
            return try context.discoveryKeys(in: transaction).find(
                DiscoveryWeek(at: transaction.now), of: session.providerID)
        }
        if found == nil {
            found = try await context.act(for: session) { transaction, _, _ in
                try context.discoveryKeys(in: transaction).findOrCreate(
                    DiscoveryWeek(at: transaction.now), of: session.providerID, seed: seed)
            }
        }
        guard let found else { throw Refusal.unknownWeek }
        return Week(week: found.week, publicKey: found.publicKey, bits: found.bits)
    }

    /// Evaluates blinded numbers. They are counted for the user's proven number first, and stay counted.
    ///
    /// - Throws: `Refusal` `malformed_request` for too many, none, or what is no element of the group; `not_found` for a week
    ///   that is not answered; `conflict` before a number is proven; `not_verified`, `user_banned`, `rate_limited`,
    ///   `unavailable`.
    package func evaluate(_ blinded: [[UInt8]], week: Int64, for session: Session) async throws -> [[UInt8]] {
        guard (1...Self.maximumElements).contains(blinded.count) else {
            throw Refusal.wrongNumberOfContacts(allowed: Self.maximumElements)
        }
        let keys = context.keys.personal
        let key = try await context.act(for: session) { transaction, _, _ in
            try requireCaller(session, in: transaction)
            let entry = try find(week, of: session, in: transaction)
            guard let number = try AuthenticatedUserRepository(transaction, keys: keys).numberIndex(of: session.userID)
            else {
                throw Refusal.phoneRequired
            }
            try count(blinded.count, for: number, in: transaction)
            return entry.key
        }
        do {
            return try await evaluator.evaluate(blinded, key)
        } catch is ObliviousKey.NoElement {
            throw Refusal.unreadableContact
        }
    }

    /// A part of the set.
    package struct Page: Sendable {
        package let entries: [DiscoveryEntry]
        /// The last tag, if there are more.
        package let next: [UInt8]?
    }

    /// Reads a bucket of a week's set, or a part of a large one.
    ///
    /// - Parameter tag: the last one of the part before; `nil` for the first part.
    /// - Throws: `Refusal` `not_found` for a week that is not answered, or a bucket that it does not have; `not_verified`,
    ///   `user_banned`, `rate_limited`, `unavailable`.
    package func entries(
        week: Int64, bucket number: Int, bits: Int, after tag: [UInt8]?, for session: Session
    ) async throws -> Page {
        try await context.act(for: session) { transaction, _, _ in
            try requireCaller(session, in: transaction)
            let entry = try find(week, of: session, in: transaction)
            // A set that has grown has more bits: fewer give a larger part, and tell less.
            guard bits <= entry.bits, let bucket = DiscoveryBucket(number, bits: bits),
                tag.map({ $0.count == DiscoveryEntry.tagLength }) ?? true
            else { throw Refusal.unknownBucket }
            if context.rateLimiting == .on {
                try RateRepository(transaction).count(
                    "discovery \(session.userID)",
                    limit: RateLimit(count: context.policy[\.addresses].downloadsPerHour, per: 3600))
            }
            let size = DiscoveryBucket.minimum
            let found = try DiscoveryRepository(transaction).list(
                bucket, after: tag, in: entry.week, of: session.providerID, limit: size + 1)
            if found.count > size { return Page(entries: Array(found.prefix(size)), next: found[size - 1].tag) }
            guard tag == nil else { return Page(entries: found, next: nil) }
            return Page(entries: try bucket.padded(found, secret: entry.padding), next: nil)
        }
    }

    private func requireCaller(_ session: Session, in transaction: any Transaction) throws {
        try AuthorizationParties(required: context.policy[\.addresses].requiredLevel, in: transaction).requireCaller(
            session.userID)
    }

    private func find(
        _ number: Int64, of session: Session, in transaction: any Transaction
    ) throws -> DiscoveryKeyRepository.Entry {
        let week = DiscoveryWeek(number)
        guard
            (DiscoveryWeek.oldest(at: transaction.now).number...DiscoveryWeek(at: transaction.now).number)
                .contains(number),
            let entry = try context.discoveryKeys(in: transaction).find(week, of: session.providerID)
        else { throw Refusal.unknownWeek }
        return entry
    }

    private func count(_ evaluations: Int, for number: Digest256, in transaction: any Transaction) throws {
        guard context.rateLimiting == .on else { return }
        let limit = context.policy[\.addresses].evaluationsPerDay
        guard try !DiscoveryRepository(transaction).count(evaluations, for: number, limit: limit) else { return }
        let left = 86_400 - transaction.now.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400)
        throw Refusal.contactsExhausted(
            limit, retryAfter: max(1, Int(saturating: left.rounded(.up))))
    }

    /// Evaluates for one request at a time, a few elements at a turn: so many requests as there may be take one core.
    private actor Evaluator {
        private static let turn = 4

        func evaluate(_ blinded: [[UInt8]], _ key: ObliviousKey) async throws -> [[UInt8]] {
            var evaluations: [[UInt8]] = []
            for start in stride(from: 0, to: blinded.count, by: Self.turn) {
                try Task.checkCancellation()
                evaluations += try key.evaluate(Array(blinded[start..<min(start + Self.turn, blinded.count)]))
                await Task.yield()
            }
            return evaluations
        }
    }
}
