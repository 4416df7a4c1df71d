import Domain
import Foundation

/// Makes a nonce for the certificate behind a connection. Writes nothing: a flood of requests costs no storage.
package struct IssueNonce: Sendable {
    private let key: NonceKey
    private let policy: CurrentPolicy
    private let environment: Environment

    /// Makes nonces under a key.
    package init(key: NonceKey, policy: CurrentPolicy, environment: Environment) {
        self.key = key
        self.policy = policy
        self.environment = environment
    }

    /// A new nonce and when it ends.
    package func callAsFunction(_ connection: ClientConnection) -> (nonce: String, expiresAt: Date) {
        let expiresAt = environment.now().addingTimeInterval(policy[\.nonces].lifetime)
        let nonce = Nonce.issue(
            randomBytes: environment.randomBytes(16), expiresAt: expiresAt, thumbprint: connection.thumbprint, key: key
        )
        return (nonce, expiresAt)
    }
}
