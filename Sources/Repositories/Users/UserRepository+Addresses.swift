import Database
import Domain

package extension UserRepository {
    /// A user and the slug of the provider, in one statement.
    typealias Addressed = (user: User, slug: Slug)

    private static let addressed = ColumnTuple(UserRow.columns.of("u"), Column<Slug>("p.slug"))

    /// The users whose ids begin with a text, in the order of the ids.
    func addressed(_ typed: TypedID<Kind.User>, limit: Int) throws -> [Addressed] {
        guard let range = typed.range else { return [] }
        return try addressed(
            "users u JOIN providers p ON p.id = u.provider_id WHERE u.id >= $1 AND u.id <= $2 ORDER BY u.id LIMIT $3",
            [range.first.value, range.last.value, limit.value])
    }

    /// The user with an external id of the provider with a slug; `nil` if there is none.
    func addressed(slug: Slug, externalID: String) throws -> Addressed? {
        try addressed(
            "providers p JOIN users u ON u.provider_id = p.id AND u.external_id = $2 WHERE p.slug = $1",
            [slug.value, .text(externalID)]
        ).first
    }

    /// The users with an external id, of the first providers by slug. Each provider is looked up in the index of both.
    func addressed(externalID: String, limit: Int) throws -> [Addressed] {
        try addressed(
            """
            providers p JOIN users u ON u.provider_id = p.id AND u.external_id = $1 ORDER BY p.slug LIMIT $2
            """, [.text(externalID), limit.value])
    }

    private func addressed(_ rest: String, _ arguments: [Value]) throws -> [Addressed] {
        try transaction.query("SELECT \(Self.addressed) FROM \(rest)", arguments).map { row in
            let (user, slug) = try Self.addressed.read(row)
            return (user.user(at: transaction.now), slug)
        }
    }
}
