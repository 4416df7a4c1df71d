import Database
import Domain
import Repositories

extension TypedID where Kind: NamedKind {
    /// The number of candidates that a refusal lists.
    private static var candidates: Int { 5 }

    /// The id that is meant. A whole id is returned as it is, because its reader reports that there is no such object.
    ///
    /// - Throws: `Refusal` `malformed_request` if no id can begin with the text, `not_found` if none does, `conflict` if
    ///   several do.
    func resolve(in transaction: any Transaction) throws -> Identifier<Kind> {
        try resolve { try TypedIDRepository(transaction).list(self, limit: $0) }
    }

    /// ``resolve(in:)`` among the ids of some objects, such as the apps of one provider.
    func resolve(among ids: [Identifier<Kind>]) throws -> Identifier<Kind> {
        try resolve { limit in
            guard let range else { return [] }
            let within = range.first.description...range.last.description
            return Array(ids.filter { within.contains($0.description) }.prefix(limit))
        }
    }

    /// ``resolve(in:)`` with the ids that begin with the text. Each other way to resolve an id ends here, so none accepts a
    /// text that is too short.
    ///
    /// - Parameter list: lists the first of them, up to a number.
    func resolve(_ list: (_ limit: Int) throws -> [Identifier<Kind>]) throws -> Identifier<Kind> {
        guard let range else { throw Refusal.notAnID(text, Kind.names.noun, fewest: Self.fewest) }
        if range.first == range.last { return range.first }
        let found = try list(Self.candidates + 1)
        guard let id = found.first else { throw Refusal.nothingBegins(with: text, Kind.names.noun) }
        guard found.count == 1 else {
            throw Refusal.severalBegin(
                with: text, found.prefix(Self.candidates).map(\.description), isMore: found.count > Self.candidates)
        }
        return id
    }
}

package extension Administration {
    /// The id that an admin typed, whole or as its beginning.
    ///
    /// - Throws: `Refusal` `malformed_request` if no id can begin with the text, `not_found` if none does, `conflict` if
    ///   several do.
    func resolve<Kind: NamedKind>(_ typed: TypedID<Kind>) async throws -> Identifier<Kind> {
        try await read(.resolve) { try typed.resolve(in: $0) }
    }
}
