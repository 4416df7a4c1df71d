import Domain
import Encoding
import Foundation
import Tokens

/// A session as its holder is told about it; the token only where it is new.
package struct OpenedSession: Sendable {
    package let session: Session
    /// Its new token, to be said once.
    package let token: SessionToken?
    /// `<provider slug>/<external id>`.
    package let address: String
    /// How far the user is verified.
    package let assurance: Assurance
    /// When the session ends at the latest.
    package let expiresAt: Date
    /// Seconds from now until then.
    package let lifetime: Int
    /// Seconds without use until it is challenged.
    package let idleLifetime: Int
    /// The names of the identity token's claims that describe the user and were left out.
    package let ignoredClaims: [String]

    init(
        session: Session, token: SessionToken?, address: String, assurance: Assurance, now: Date, policy: SessionPolicy,
        ignored: [IgnoredClaim] = []
    ) {
        ignoredClaims = ignored.map(\.name)
        self.session = session
        self.token = token
        self.address = address
        self.assurance = assurance
        expiresAt = session.expiry(policy: policy)
        lifetime = max(0, Int(saturating: expiresAt.timeIntervalSince(now)))
        idleLifetime = Int(policy.idleLifetime)
    }
}
