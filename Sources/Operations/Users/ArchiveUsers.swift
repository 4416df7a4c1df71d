import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Takes verified users' rows offline: written out for those who keep them, then marked, and purged where that is asked.
///
/// Rows are read and marked in small transactions, so that neither memory nor other writers bear the whole of it. Nothing
/// is marked before what was written is durable: a run that is cut short is repeated whole.
package struct ArchiveUsers: Sendable {
    private let context: AdminContext
    private let keys: PersonalKeys
    private let batch: Int

    /// - Parameter batch: how many rows in one transaction.
    package init(_ context: AdminContext, keys: PersonalKeys, batch: Int = 100) {
        self.context = context
        self.keys = keys
        self.batch = batch
    }

    package struct Written: Sendable {
        /// Its name in the audit log.
        package let id: UUID
        package let count: Int
        /// How many rows could not be opened, and are neither in it nor marked.
        package let unreadable: Int
        let since: Date
        let until: Date
    }

    /// Hands out the rows of all users who were verified from a moment on and before now, one JSON object a line. Each is
    /// in the audit log as read.
    ///
    /// - Parameters:
    ///   - again: also rows that an earlier archive holds.
    ///   - recipients: for whom, for the audit log.
    ///   - write: takes lines in their order, each with its line feed.
    package func write(
        since moment: Date, again: Bool, recipients: [String], _ write: (String) throws -> Void
    ) async throws -> Written {
        let id = context.environment.newUUID()
        let until = try await context.commit { transaction, events in
            events.record(
                .usersArchived(
                    archive: id.uuidString.lowercased(),
                    detail: "verified since \(moment.rfc3339), for \(recipients.joined(separator: " "))"),
                by: context.actor)
            return transaction.now
        }
        var (count, unreadable) = (0, 0)
        var mark: ArchivedUserRepository.Mark?
        repeat {
            let from = mark
            let step = try await context.commit { transaction, events -> Step in
                let records = ArchivedUserRepository(transaction, begunAt: until)
                let found = try records.waiting(
                    since: moment, before: until, again: again, after: from, limit: batch)
                let lines = try found.compactMap { _, user -> String? in
                    guard let line = try line(user, archive: id, in: transaction, &events) else { return nil }
                    try records.take(user)
                    return line
                }
                return Step(
                    lines: lines, unreadable: found.count - lines.count, mark: found.count < batch ? nil : found.last)
            }
            for line in step.lines { try write(line + "\n") }
            count += step.lines.count
            unreadable += step.unreadable
            mark = step.mark
        } while mark != nil
        return Written(id: id, count: count, unreadable: unreadable, since: moment, until: until)
    }

    /// Marks the rows that an archive took, now that it is durable. A row that changed meanwhile stays for the next one.
    ///
    /// - Parameter purged: what is dropped from the marked rows, and from the users' cards.
    /// - Returns: how many were marked.
    package func mark(_ written: Written, purging purged: Set<ArchivedDatum>) async throws -> Int {
        var count = 0
        var mark: ArchivedUserRepository.Mark?
        repeat {
            let from = mark
            let (marked, next) = try await context.store.transaction {
                transaction -> (Int, ArchivedUserRepository.Mark?) in
                let records = ArchivedUserRepository(transaction, begunAt: written.until)
                let found = try records.taken(
                    since: written.since, before: written.until, after: from, limit: batch)
                for (_, user) in found {
                    try records.settle(user, dropping: purged)
                    if !purged.isEmpty { try purgeCards(of: user, purged, in: transaction) }
                }
                return (found.count, found.count < batch ? nil : found.last)
            }
            count += marked
            mark = next
        } while mark != nil
        return count
    }

    /// What one transaction handed out.
    private struct Step: Sendable {
        let lines: [String]
        let unreadable: Int
        let mark: ArchivedUserRepository.Mark?
    }

    /// A user's row as it stands in the archive; `nil` where it cannot be opened.
    private func line(
        _ id: UserID, archive: UUID, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws -> String? {
        guard let user = try UserRepository(transaction).find(id), let row = try open(id, in: transaction) else {
            return nil
        }
        events.record(
            .personalDataRead(subject: "user \(id)", detail: "archive \(archive.uuidString.lowercased())"),
            by: context.actor)
        let address = try ProviderRepository(transaction).find(user.providerID)?.address(of: user.externalID)
        let members: [(String, String?)] = [
            ("user_id", id.description), ("address", address ?? user.externalID),
            ("provider_id", user.providerID.description), ("assurance", user.assurance.rawValue),
            ("phone_number", row.phoneNumber), ("push_endpoint", row.pushEndpoint), ("full_name", row.fullName),
            ("date_of_birth", row.dateOfBirth?.text), ("postal_address", row.postalAddress),
            ("document_number", row.documentNumber), ("jurisdiction", row.jurisdiction),
            ("phone_verified_at", row.phoneVerifiedAt.rfc3339),
            ("identity_verified_at", row.identityVerifiedAt?.rfc3339), ("suspended", row.suspended?.rawValue),
        ]
        return JSONValue.object(
            members.map { JSONMember(name: $0, value: $1.map { .string($0) } ?? .null) }
        ).jsonText
    }

    /// One damaged row must not keep all others from being archived.
    private func open(_ id: UserID, in transaction: any Transaction) throws -> AuthenticatedUser? {
        do {
            return try AuthenticatedUserRepository(transaction, keys: keys).find(id)
        } catch is SealingFailure {
            return nil
        }
    }

    /// Seals what is left of a user's cards anew. Blind indexes stay, so that the document is known again, and a ban of the
    /// user still reaches it.
    private func purgeCards(
        of user: UserID, _ purged: Set<ArchivedDatum>, in transaction: any Transaction
    ) throws {
        let records = IdentityCardRepository(transaction)
        guard let key = try DataKeyRepository(transaction, keys: keys).find(user) else { return }
        for entry in try records.list(of: user) where entry.status != .inReview {
            let facts: CardFacts?
            do {
                facts = try SealedCard.facts(of: entry, keys: keys, in: transaction)
            } catch is SealingFailure {
                // What cannot be opened shows nobody anything.
                continue
            }
            guard let facts else { continue }
            let left = facts.without(purged, keeping: BanSubjectIndex(keys: keys).kept(facts))
            let sealed = try key.seal(left.jsonText, in: .cardFacts, of: entry.id)
            try records.replaceFacts(entry.id, sealed: sealed)
        }
    }
}
