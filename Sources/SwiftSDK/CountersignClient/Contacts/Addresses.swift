import Foundation
import HTTPTypes

/// The addresses by which users can be found.
public struct Addresses: Sendable {
    let client: Countersign

    /// A kind of address of the user. Both kinds are proven.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        case phone
        /// A name at the service, `<provider>/<user>`.
        case name
    }

    /// An address by which other users can find the user.
    public struct Findable: Sendable, Hashable, Decodable {
        public let type: Kind
        public let since: Date
    }

    /// The addresses by which other users can find the user. There are none until the user shares one.
    public func list() async throws(Refusal) -> [Findable] {
        struct Listed: Decodable { let findable: [Findable] }
        let listed: Listed = try await client.perform(Call(.get, "/me/addresses"))
        return listed.findable
    }

    /// Lets other users find the user by an address.
    public func share(_ kind: Kind) async throws(Refusal) {
        try await client.send(Call(.put, "/me/addresses/\(kind.rawValue)"))
    }

    public func hide(_ kind: Kind) async throws(Refusal) {
        try await client.send(Call(.delete, "/me/addresses/\(kind.rawValue)"))
    }

    /// Finds a user by a number in E.164 form, or by `<provider>/<user>`. The service learns the address. For an
    /// address book use ``Countersign/contacts``.
    ///
    /// - Returns: `nil` if it finds no user.
    public func resolve(_ address: String) async throws(Refusal) -> UUID? {
        struct Resolved: Decodable {
            let userID: UUID

            enum CodingKeys: String, CodingKey { case userID = "user_id" }
        }
        do {
            let found: Resolved = try await client.perform(
                Call(.post, "/addresses/resolve", json: ["address": address], isRepeatable: true))
            return found.userID
        } catch {
            if error.problem?.code == .notFound { return nil }
            throw error
        }
    }
}

extension Countersign {
    /// The addresses by which users can be found.
    public nonisolated var addresses: Addresses { Addresses(client: self) }

    /// Finds contacts of an address book without revealing it.
    public nonisolated var contacts: ContactDiscovery { ContactDiscovery(client: self) }
}
