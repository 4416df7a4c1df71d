import Encoding

/// What a call costs the service: it decides how many of them one caller may make.
package enum CallCost: String, Sendable, CaseIterable {
    /// Memory answers it: connections and the processor are bound enough.
    case free
    /// It looks something up.
    case read
    /// Its transaction may write.
    case write
    /// Hundreds of statements, much data, or many signatures.
    case heavy
}

/// For whom calls are counted.
package enum CountedCaller: Sendable, Hashable {
    case user(UserID)
    /// A user who changes streams of messages, which has a limit of its own.
    case writer(UserID)
    /// A device, by the thumbprint of its certificate.
    case certificate(Digest256)
    case provider(ProviderID)
    /// Whoever shows nothing, by the limits' key of the address.
    case address(String)
}

extension RequestPolicy {
    /// How many calls of a cost a caller may make on one node; `nil` for any number.
    package func limit(of cost: CallCost, for caller: CountedCaller) -> RateLimit? {
        let count: Int
        switch cost {
        case .free: return nil
        case .read: count = readsPerMinute
        case .write: count = writesPerMinute
        case .heavy: count = heavyPerMinute
        }
        // A backend calls for all users of its provider.
        let factor = if case .provider = caller { Double(providerFactor) } else { 1.0 }
        return RateLimit(count: Int(saturating: Double(count) * factor), per: 60)
    }
}
