import Domain
import Encoding
import Foundation

extension Session {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// One that depends on nothing that another does, unless it is told what.
    static func remembered(
        _ number: Int, user: UserID = UserID(UUID()), device: DeviceID = DeviceID(UUID()),
        provider: ProviderID = ProviderID(UUID()), key: ProviderKeyID = ProviderKeyID(UUID()),
        app: ApplicationID = ApplicationID(UUID()), state: State = .authenticated,
        certificate: String = "certificate"
    ) -> Session {
        Session(
            id: SessionID(UUID()), tokenHash: .of("token \(number)"), userID: user, providerID: provider,
            externalID: "user \(user)", applicationID: app, deviceID: device, thumbprint: .of(certificate),
            providerKeyID: key, state: state, createdAt: now, renewedAt: now + 1, lastUsedAt: now + 2,
            challengedAt: state == .challenged ? now + 3 : nil)
    }
}
