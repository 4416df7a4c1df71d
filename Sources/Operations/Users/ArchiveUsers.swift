import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Archives verified users' rows: exports them for an external recipient, then marks them, and purges data if
/// requested.
///
/// Rows are read and marked in small transactions, so that neither memory nor other writers suffer. Nothing is marked
/// before the archive is durable, so an interrupted run can be repeated as a whole.
package struct ArchiveUsers: Sendable {
    private let context: Administration
    private let keys: PersonalKeys
    private let batch: Int
}

package extension ArchiveUsers {
    /// - Parameter batch: the number of rows in one transaction.
    init(_ context: Administration, keys: PersonalKeys, batch: Int = 100) {
        self.context = context
        self.keys = keys
        self.batch = batch
    }

    struct Written: Sendable {
        /// Its id in the audit log.
        package let id: UUID
        package let count: Int
        /// The number of rows that could not be opened. They are neither in the archive nor marked.
        package let unreadable: Int
        let since: Date
        let until: Date
    }

    /// Exports the rows of all users verified in the period from `since` until now, one JSON object a line. Each read
    /// is audited.
    ///
    /// - Parameters:
    ///   - again: whether to include rows that an earlier archive has.
    ///   - recipients: the recipients, for the audit log.
    ///   - write: receives lines in order, each with its line feed.
    func write(
        since moment: Date, again: Bool, recipients: [String], _ write: (String) throws -> Void
    ) async throws -> Written {
        let id = context.environment.newUUID()
        let until = try await context.write(.manage) { transaction, events in
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
            let step = try await context.write(.manage) { transaction, events -> Step in
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

    /// Marks the exported rows, after the archive is durable. A row that changed meanwhile is left for the next
    /// archive.
    ///
    /// - Parameter purged: the data to delete from the marked rows, and from the users' cards.
    /// - Returns: the number of marked rows.
    func mark(_ written: Written, purging purged: Set<ArchivedDatum>) async throws -> Int {
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

    /// The result of one transaction.
    private struct Step: Sendable {
        let lines: [String]
        let unreadable: Int
        let mark: ArchivedUserRepository.Mark?
    }

    /// A user's row as a line of the archive; `nil` if it cannot be opened.
    private func line(
        _ id: UserID, archive: UUID, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws -> String? {
        guard let user = try UserRepository(transaction).find(id), let (row, ages) = try open(id, in: transaction)
        else {
            return nil
        }
        events.record(
            .personalDataRead(subject: AuditSubject(.user, id), detail: "archive \(archive.uuidString.lowercased())"),
            by: context.actor)
        let address = try ProviderRepository(transaction).find(user.providerID)?.address(of: user.externalID)
        let members: [(String, String?)] = [
            ("user_id", id.description), ("address", address ?? user.externalID),
            ("provider_id", user.providerID.description), ("assurance", user.assurance.rawValue),
            ("phone_number", row.phoneNumber), ("full_name", row.fullName),
            ("date_of_birth", row.dateOfBirth?.text), ("postal_address", row.postalAddress),
            ("document_number", row.documentNumber), ("jurisdiction", row.jurisdiction),
            ("phone_verified_at", row.phoneVerifiedAt.rfc3339),
            ("identity_verified_at", row.identityVerifiedAt?.rfc3339), ("suspended", row.suspended?.rawValue),
        ]
        return JSONValue.object(
            members.map { JSONMember(name: $0, value: $1.map { .string($0) } ?? .null) }
                + [JSONMember(name: "age_proof", value: ages?.json ?? .null)]
        ).jsonText
    }

    /// A damaged row must not stop the archive of the others.
    private func open(
        _ id: UserID, in transaction: any Transaction
    ) throws -> (row: AuthenticatedUser, ages: ProvenAges?)? {
        do {
            guard let row = try AuthenticatedUserRepository(transaction, keys: keys).find(id) else { return nil }
            return (row, try AgeProofRepository(transaction, keys: keys).find(id))
        } catch is SealingFailure {
            return nil
        }
    }

    /// Seals the remaining data of a user's cards again. Blind indexes stay, so that the document is still recognized
    /// and a ban of the user still covers it.
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
                // A card that cannot be opened reveals nothing, so it is left.
                continue
            }
            guard let facts else { continue }
            let left = facts.without(purged, keeping: BanSubjectIndex(keys: keys).kept(facts))
            let sealed = try key.seal(left.jsonText, in: .cardFacts, of: entry.id)
            try records.replaceFacts(entry.id, sealed: sealed)
        }
    }
}
