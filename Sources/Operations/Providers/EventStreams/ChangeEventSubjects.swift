import Database
import Domain
import Foundation
import Repositories

extension EventStream {
    /// The maximum number of users that one stream may exclude.
    static let mostExcluded = 10_000
}

/// The maximum number of changes by one provider in a minute.
private let changesPerMinute = 600

/// A receiver excludes users from a stream (SSF 1.0 §8.1.3). Without such a request a stream has the events of all
/// users of its provider.
package extension Service {
    /// Includes a user in a stream again.
    ///
    /// - Throws: `Refusal` `not_found` if the provider has no such stream or user; `provider_token_invalid`;
    ///   `rate_limited`.
    func addEventSubject(
        _ subject: SubjectIdentifier, to id: EventStreamID, by caller: ProvenProvider
    ) async throws {
        try await changeEventSubject(subject, id, caller) { transaction, user in
            try EventSubjectRepository(transaction).restore(user, to: id)
            return .eventSubjectAdded(id, user)
        }
    }

    /// Excludes a user from a stream. Events that already wait in it are still delivered.
    ///
    /// It requires a fresh proof: a stolen access token must not keep a user's events from a receiver.
    ///
    /// - Throws: `Refusal` as ``addEventSubject(_:to:by:)``; `conflict` if the stream excludes the maximum number of
    ///   users.
    func removeEventSubject(
        _ subject: SubjectIdentifier, from id: EventStreamID, by caller: FreshProof
    ) async throws {
        try await changeEventSubject(subject, id, caller.provider) { transaction, user in
            let subjects = EventSubjectRepository(transaction)
            guard try subjects.isExcluded(user, from: id) || !subjects.excludes(EventStream.mostExcluded, from: id)
            else {
                throw Refusal.excludedUsersExhausted(EventStream.mostExcluded)
            }
            try subjects.exclude(user, from: id)
            return .eventSubjectRemoved(id, user)
        }
    }

    private func changeEventSubject(
        _ subject: SubjectIdentifier, _ id: EventStreamID, _ caller: ProvenProvider,
        _ body: @Sendable @escaping (any Transaction, UserID) throws -> AuditedAct
    ) async throws {
        if rateLimiting == .on {
            try await store.transaction {
                try RateRepository($0).count(
                    "stream subjects \(caller.id)", limit: RateLimit(count: changesPerMinute, per: 60))
            }
        }
        let issuer = urls.issuer
        try await write { transaction, events in
            try caller.requireActive(in: transaction)
            let streams = EventStreamRepository(transaction)
            _ = try streams.require(id, of: caller.id)
            guard let user = try Self.user(subject, of: caller.id, issuer: issuer, in: transaction) else {
                throw Refusal.unknownEventSubject
            }
            try streams.setActive(transaction.now, of: id)
            events.record(try body(transaction, user), by: "provider \(caller.id)")
        }
    }

    private static func user(
        _ subject: SubjectIdentifier, of provider: ProviderID, issuer: String, in transaction: any Transaction
    ) throws -> UserID? {
        let users = UserRepository(transaction)
        switch subject {
        case .user(issuer, let id):
            guard let id = UserID(id[...]), let user = try users.find(id), user.providerID == provider else {
                return nil
            }
            return id
        case .user(let name, let externalID) where ProviderID(name[...]) == provider:
            return try users.find(providerID: provider, externalID: externalID)?.id
        case .email(let externalID): return try users.find(providerID: provider, externalID: externalID)?.id
        case .user, .other: return nil
        }
    }
}
