import Database
import Domain
import Repositories

package extension Administration {
    /// The subjects of the audit log that an admin means: by a whole subject or an id, by the name of a user or provider,
    /// or by the beginning of an id.
    ///
    /// - Parameter mayBeNew: whether a whole id without entries is accepted, because entries may follow.
    /// - Throws: `Refusal` `not_found` if no entry is about it, `conflict` if several ids begin with the text.
    func auditSubjects(meantBy text: String, mayBeNew: Bool = false) async throws -> [String] {
        try await read(.audit) { transaction in
            let records = AuditChainRepository(transaction)
            let whole = AuditSubject.meant(by: text)
            let known = try whole.filter { try records.has(subject: $0) }
            if !known.isEmpty { return known }
            if let named = try Self.named(text, in: transaction) { return [named.description] }
            let begun = try Self.begun(text, records)
            if !begun.isEmpty { return begun }
            guard mayBeNew, UserID(text.split(separator: " ").last ?? "") != nil else {
                throw Refusal.noAuditEntry(about: text)
            }
            return whole
        }
    }

    /// The user or provider with a name, which has no entries yet or whose entries have its id.
    private static func named(_ text: String, in transaction: any Transaction) throws -> AuditSubject? {
        let name = text.split(separator: " ", maxSplits: 1).last.map(String.init) ?? text
        if name.contains("/") { return AuditSubject(.user, try UserSummary.find(name, in: transaction).user.id) }
        guard let slug = Slug(name), let provider = try ProviderRepository(transaction).find(slug) else { return nil }
        return AuditSubject(.provider, provider.id)
    }

    /// The subjects of any kind whose id begins with a text.
    private static func begun(_ text: String, _ records: AuditChainRepository) throws -> [String] {
        let words = text.split(separator: " ")
        guard let range = TypedID<Kind.User>(String(words.last ?? "")).range else { return [] }
        let kinds = AuditSubject.Kind.allCases.filter {
            words.count < 2 || $0.rawValue == words.dropLast().joined(separator: " ")
        }
        let found = try kinds.flatMap { kind in
            let (first, last) = (AuditSubject(kind, range.first), AuditSubject(kind, range.last))
            return try records.subjects(after: first.description, through: last.description, limit: 6)
        }
        let ids = Set(found.compactMap { $0.split(separator: " ").last })
        guard ids.count <= 1 else {
            throw Refusal.severalBegin(with: text, Array(found.prefix(5)), isMore: found.count > 5)
        }
        return found
    }
}
