import Encoding

/// The cost of a call for the service, on which the number of calls per caller depends.
package enum CallCost: String, Sendable, CaseIterable {
    /// Answered from memory. The limits of connections and processor time are enough.
    case free
    /// The call reads the store.
    case read
    /// The call's transaction may write.
    case write
    /// The call needs hundreds of statements, much data, or many signatures.
    case heavy
}

/// The caller to which calls are attributed.
package enum CountedCaller: Sendable, Hashable {
    case user(UserID)
    /// A user who changes streams of messages; a separate limit applies.
    case writer(UserID)
    /// A device, by the thumbprint of its certificate.
    case certificate(Digest256)
    case provider(ProviderID)
    case administrator(AdministratorID)
    /// A caller without certificate and credentials, by the limits' key of the address or of a network around it.
    case address(String)
}

package extension RequestPolicy {
    /// The limit for calls of a cost on one node; `nil` if they are unlimited.
    func limit(of cost: CallCost, for caller: CountedCaller) -> RateLimit? {
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
