import Database
import Domain
import Foundation

/// The caches of a process for its store.
package struct Caches: Sendable {
    package let sessions: SessionCache
    package let certificates: CertificateCache
    package let providers: ProviderCache
    package let lastUses = LastUses()
    package let signIns = SignInRecords()
    let administrators: AdministratorCache
    let levels = AssuranceCache()
    let bearers = VerifiedBearers()
    let issuers = IssuerCache()
    let attestationStatus = AttestationStatusCache()

    /// - Parameter store: the store from which missing values are read.
    package init(store: any Database) {
        sessions = SessionCache(store: store)
        certificates = CertificateCache(store: store)
        providers = ProviderCache(store: store)
        administrators = AdministratorCache(store: store)
    }
}

/// The levels of users whose sessions providers introspect.
final class AssuranceCache: Sendable {
    private let table = InvalidatingCache<UserID, AssuranceLevel>()

    /// The maximum number of levels. Above it all are dropped, and each is read again when it is needed.
    private static let capacity = 100_000

    func known(_ id: UserID) -> AssuranceLevel? { table.known(id) }

    /// A mark for ``remember(_:of:since:)``. Take it before the level is read.
    var mark: UInt64 { table.epoch }

    /// Caches a level that was read after a mark, unless a level has changed since.
    func remember(_ level: AssuranceLevel, of id: UserID, since mark: UInt64) {
        if table.count >= Self.capacity { table.forgetAll() }
        table.remember(level, for: id, since: mark)
    }

    func drop(_ id: UserID) { table.drop(id) }

    func dropAll() { table.drop { _ in true } }
}
