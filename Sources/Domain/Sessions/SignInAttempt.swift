import Encoding
import Foundation

/// An attempt to open or renew a session, as it is recorded. It has ids and codes, and no personal data.
package struct SignInAttempt: Sendable, Equatable {
    package let id: SignInAttemptID
    package let at: Date
    package let act: Act
    /// `nil` if the token named no provider of this service.
    package let providerID: ProviderID?
    /// `nil` if the token named no known user.
    package let userID: UserID?
    /// The session that was opened or renewed; `nil` if the attempt was refused.
    package let sessionID: SessionID?
    /// The key that the token named; `nil` if the provider has no such key.
    package let providerKeyID: ProviderKeyID?
    package let applicationID: ApplicationID?
    package let deviceID: DeviceID?
    /// The code of the refusal; `nil` if the attempt was accepted.
    package let code: String?
    /// The reason below the code.
    package let reason: String?

    package init(
        id: SignInAttemptID, at: Date, act: Act, providerID: ProviderID?, userID: UserID?, sessionID: SessionID?,
        providerKeyID: ProviderKeyID?, applicationID: ApplicationID?, deviceID: DeviceID?, code: String?,
        reason: String?
    ) {
        self.id = id
        self.at = at
        self.act = act
        self.providerID = providerID
        self.userID = userID
        self.sessionID = sessionID
        self.providerKeyID = providerKeyID
        self.applicationID = applicationID
        self.deviceID = deviceID
        self.code = code
        self.reason = reason
    }
}

package extension SignInAttempt {
    /// Attempts of a provider's users from one network in one hour that were counted without a row each.
    struct Tally: Sendable, Equatable {
        package let hour: Hour
        /// `nil` for attempts whose token named no provider of this service.
        package let providerID: ProviderID?
        /// A keyed digest of the network.
        package let network: Digest256
        package let accepted: Int
        package let refused: Int

        package init(hour: Hour, providerID: ProviderID?, network: Digest256, accepted: Int, refused: Int) {
            self.hour = hour
            self.providerID = providerID
            self.network = network
            self.accepted = accepted
            self.refused = refused
        }

        /// An hour that begins at a full hour of UTC.
        package struct Hour: Sendable, Hashable {
            package let start: Date

            package init(of moment: Date) {
                start = Date(timeIntervalSince1970: (moment.timeIntervalSince1970 / 3600).rounded(.down) * 3600)
            }
        }
    }

    enum Act: String, Sendable, CaseIterable {
        case open
        case renew
    }

    var isAccepted: Bool { code == nil }
}
