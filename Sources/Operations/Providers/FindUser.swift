import Database
import Domain
import Repositories

extension Service {
    /// One of a provider's users, by the provider's own name.
    ///
    /// - Throws: `Refusal` `not_found`.
    func user(_ externalID: String, of provider: ProviderID) async throws -> User {
        guard (1...256).contains(externalID.utf8.count), !externalID.utf8.contains(0),
            let user = try await store.snapshot({
                try UserRepository($0).find(providerID: provider, externalID: externalID)
            })
        else { throw Refusal.unknownProviderUser }
        return user
    }
}
