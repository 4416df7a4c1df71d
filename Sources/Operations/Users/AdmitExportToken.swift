import Domain
import Foundation

/// Gives a banned user access to their own data, by the export token issued instead of a session.
package struct AdmitExportToken: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// The user of an export token that was sent by a banned user's device.
    ///
    /// - Throws: `Refusal` `session_required` or `session_expired`.
    package func callAsFunction(_ exportToken: String, on connection: ClientConnection) throws(Refusal) -> UserID {
        try RefuseBanned(key: context.keys.exports).holder(
            of: exportToken, thumbprint: connection.thumbprint, now: context.environment.now())
    }
}
