import Database
import Domain
import Encoding
import Foundation
import Repositories

/// The administrators whose certificates were used with this process, by thumbprint.
final class AdministratorCache: Sendable {
    private struct Holder {
        let administrator: Administrator
        let notAfter: Date
    }

    private let table = InvalidatingCache<Digest256, Holder>()
    private let store: any Database

    /// - Parameter store: the store from which administrators are read.
    init(store: any Database) {
        self.store = store
    }

    /// The administrator with a certificate; `nil` if it is not valid at `now`.
    func find(_ thumbprint: Digest256, at now: Date) async throws -> Administrator? {
        let holder = try await table.find(thumbprint) {
            try await store.snapshot { transaction in
                try AdministratorRepository(transaction).find(thumbprint: thumbprint).map {
                    Holder(administrator: $0.administrator, notAfter: $0.notAfter)
                }
            }
        }
        guard let holder, now < holder.notAfter, holder.administrator.removedAt == nil else { return nil }
        return holder.administrator
    }

    func drop(_ id: AdministratorID) { table.drop { $0.administrator.id == id } }

    func dropAll() { table.drop { _ in true } }

    var count: Int { table.count }
}
