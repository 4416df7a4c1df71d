import Crypto
import Encoding
import Foundation

/// A user's credentials for a TURN server. The server verifies them with a secret that it shares with the service, as
/// coturn's `use-auth-secret` does.
package struct TURNCredentials: Sendable, Equatable, Confidential {
    /// `<seconds since 1970>:<user id>`; the time is when the credentials expire.
    package let username: String
    /// The HMAC-SHA-1 of the username in base64.
    package let password: String
    package let expiresAt: Date

    package init(for user: UserID, until end: Date, secret: Secret<String>) {
        let seconds = end.timeIntervalSince1970.rounded(.down)
        expiresAt = Date(timeIntervalSince1970: seconds)
        username = "\(Int64(saturating: seconds)):\(user)"
        let code = HMAC<Insecure.SHA1>.authenticationCode(
            for: Data(username.utf8), using: SymmetricKey(data: Data(secret.reveal().utf8)))
        password = Data(code).base64EncodedString()
    }
}
