import Database
import Domain

/// Additional clients of providers by issuer: audiences after the first one, and authorized parties.
struct ProviderClients {
    private let transaction: any Transaction

    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private enum Role: String {
        case audience
        case party
    }

    private static let columns = ColumnTuple(
        Column<ProviderID>("provider_id"), Column<String>("role"), Column<Int64>("position"), Column<String>("client"),
        Column<String>("issuer"))

    private static let client = ColumnTuple(Column<String>("role"), Column<String>("client"))

    func insert(_ provider: Provider) throws {
        guard let issuer = provider.issuer else { return }
        for (role, clients) in [(Role.audience, issuer.otherAudiences), (.party, issuer.parties)] {
            for (position, client) in clients.enumerated() {
                try transaction.execute(
                    "INSERT INTO provider_clients (\(Self.columns)) VALUES (\(Self.columns.placeholders))",
                    Self.columns.row(provider.id, role.rawValue, Int64(position), client, issuer.url))
            }
        }
    }

    func remove(of provider: ProviderID) throws {
        try transaction.execute("DELETE FROM provider_clients WHERE provider_id = $1", [.id(provider)])
    }

    /// Adds the clients to a provider that was read from its own row. Only a provider with an issuer has any.
    func complete(_ provider: Provider) throws -> Provider {
        guard provider.issuer != nil else { return provider }
        let clients = try transaction.query(
            "SELECT \(Self.client) FROM provider_clients WHERE provider_id = $1 ORDER BY role, position",
            [.id(provider.id)]
        ).map(Self.client.read)
        func list(_ role: Role) -> [String] { clients.filter { $0.0 == role.rawValue }.map { $0.1 } }
        var complete = provider
        complete.issuer?.otherAudiences = list(.audience)
        complete.issuer?.parties = list(.party)
        return complete
    }

    /// The provider with an additional audience.
    func find(issuer: String, audience: String) throws -> ProviderID? {
        try transaction.value(
            "SELECT provider_id FROM provider_clients WHERE issuer = $1 AND client = $2 AND role = 'audience'",
            [.text(issuer), .text(audience)])
    }
}
