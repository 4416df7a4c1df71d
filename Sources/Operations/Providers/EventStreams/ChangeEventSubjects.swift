import Database
import Domain
import Foundation
import Repositories

package extension EventStream {
    /// Users that one stream may leave out.
    static let mostExcluded = 10_000
}

/// Changes that one provider may make in a minute.
private let changesPerMinute = 600

/// A receiver says of whom a stream carries no events (SSF 1.0 §8.1.3). Without such a request it carries those of all
/// users of its provider.
package extension Service {
    /// Takes a user into a stream again.
    ///
    /// - Throws: `Refusal` `not_found` if the provider has no such stream or user; `provider_token_invalid`; `rate_limited`.
    func addEventSubject(
        _ subject: SubjectIdentifier, to id: EventStreamID, by caller: ProvenProvider
    ) async throws {
        try await changeEventSubject(subject, id, caller) { transaction, user in
            try EventSubjectRepository(transaction).restore(user, to: id)
            return .eventSubjectAdded(id, user)
        }
    }

    /// Leaves a user out of a stream. What waits in it already is still delivered.
    ///
    /// - Throws: `Refusal` as ``addEventSubject(_:to:by:)``; `conflict` if the stream leaves out as many as it may.
    func removeEventSubject(
        _ subject: SubjectIdentifier, from id: EventStreamID, by caller: ProvenProvider
    ) async throws {
        try await changeEventSubject(subject, id, caller) { transaction, user in
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
