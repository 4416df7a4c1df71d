import Database
import Domain
import Foundation

/// What a process remembers of its store.
package struct Caches: Sendable {
    package let sessions: SessionCache
    package let certificates: CertificateCache
    package let providers: ProviderCache
    package let lastUses = LastUses()
    let levels = AssuranceCache()
    let bearers = VerifiedBearers()
    let issuers = IssuerCache()

    /// Empty ones.
    package init(store: any Database) {
        sessions = SessionCache(store: store)
        certificates = CertificateCache(store: store)
        providers = ProviderCache(store: store)
    }
}

/// The levels of users about whose sessions providers ask.
final class AssuranceCache: Sendable {
    private let table = InvalidatingCache<UserID, AssuranceLevel>()

    /// More are not remembered: then all are forgotten, which costs a moment and a reading for each.
    private static let capacity = 100_000

    func known(_ id: UserID) -> AssuranceLevel? { table.known(id) }

    /// A mark for ``remember(_:of:since:)``, to be taken before a level is read.
    var mark: UInt64 { table.epoch }

    /// Keeps a level that was read since a mark, if none has changed since.
    func remember(_ level: AssuranceLevel, of id: UserID, since mark: UInt64) {
        if table.count >= Self.capacity { table.forgetAll() }
        table.remember(level, for: id, since: mark)
    }

    func drop(_ id: UserID) { table.drop(id) }

    func dropAll() { table.drop { _ in true } }
}
