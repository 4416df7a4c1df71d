import Domain
import Foundation

/// Makes a nonce for the certificate behind a connection. Writes nothing: a flood of requests costs no storage.
package struct IssueNonce: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// A new nonce and when it ends.
    package func callAsFunction(_ connection: ClientConnection) -> (nonce: String, expiresAt: Date) {
        let environment = context.environment
        let expiresAt = environment.now().addingTimeInterval(context.policy[\.nonces].lifetime)
        let nonce = Nonce.issue(
            randomBytes: environment.randomBytes(16), expiresAt: expiresAt, thumbprint: connection.thumbprint,
            key: context.keys.nonces)
        return (nonce, expiresAt)
    }
}
