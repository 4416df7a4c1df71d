import Domain
import Foundation

/// Makes a nonce for the certificate behind a connection. Writes nothing: a flood of requests costs no storage.
public struct IssueNonce: Sendable {
    private let key: NonceKey
    private let policy: CurrentPolicy
    private let surroundings: Surroundings

    /// Makes nonces under a key.
    public init(key: NonceKey, policy: CurrentPolicy, surroundings: Surroundings) {
        self.key = key
        self.policy = policy
        self.surroundings = surroundings
    }

    /// A new nonce and when it ends.
    public func callAsFunction(_ connection: ClientConnection) -> (nonce: String, expiresAt: Date) {
        let expiresAt = surroundings.now().addingTimeInterval(policy[\.nonces].lifetime)
        let nonce = Nonce.issue(
            randomBytes: surroundings.randomBytes(16), expiresAt: expiresAt, thumbprint: connection.thumbprint, key: key
        )
        return (nonce, expiresAt)
    }
}
