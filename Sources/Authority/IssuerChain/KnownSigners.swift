import Domain
import Foundation
import Synchronization

/// Signers whose certificates were verified. An issuer signs many credentials with one certificate, and its verification is
/// a quarter of the work for a credential. Only what a trusted issuer signed is kept, so nobody else can fill the memory.
final class KnownSigners: Sendable {
    /// A certificate in DER and what its signer was verified for.
    struct Key: Hashable {
        let certificate: [UInt8]
        let use: IssuerTrust.Use
    }

    /// When this many are kept, all are dropped before the next one.
    static let maximumCount = 256

    private let signers = Mutex<[Key: (signer: CredentialSigner, validity: ClosedRange<Date>)]>([:])

    /// The signer; `nil` if its certificate or that of its issuer is not valid at this time, or if it is not known.
    func find(_ key: Key, now: Date) -> CredentialSigner? {
        signers.withLock { signers in
            signers[key].flatMap { $0.validity.contains(now) ? $0.signer : nil }
        }
    }

    /// - Parameter validity: when the certificate and that of its issuer are both valid.
    func keep(_ signer: CredentialSigner, as key: Key, validity: ClosedRange<Date>) {
        signers.withLock { signers in
            if signers.count >= Self.maximumCount { signers.removeAll() }
            signers[key] = (signer, validity)
        }
    }
}
