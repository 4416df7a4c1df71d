import Database
import Domain
import Repositories

extension ProviderRepository {
    /// The provider that an admin names, by id or slug.
    ///
    /// - Throws: `Refusal` `not_found`.
    func require(_ name: String) throws -> Provider {
        let byID = try ProviderID(name[...]).flatMap { try find($0) }
        guard let provider = try byID ?? Slug(name).flatMap({ try find($0) }) else {
            throw Refusal.unknownProvider(name)
        }
        return provider
    }
}
