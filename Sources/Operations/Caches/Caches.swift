import Database

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
