import Foundation
import X509

extension Certificate {
    /// The candidate that signed this certificate, of those with its issuer's name. An authority that renews its
    /// certificate may keep its name and key, so the first candidate that is valid now is chosen, or the first of all.
    func issuer<Candidate>(
        among candidates: [Candidate], _ certificate: (Candidate) -> Certificate, at now: Date
    ) -> Candidate? {
        let signers = candidates.filter { certificate($0).publicKey.isValidSignature(signature, for: self) }
        return signers.first { certificate($0).isValid(at: now) } ?? signers.first
    }

    func isValid(at now: Date) -> Bool { notValidBefore <= now && now <= notValidAfter }
}
