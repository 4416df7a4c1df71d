import Domain
import Foundation

/// Whom a request concerns, for its log line: ids and no personal data. A part is `nil` if nothing proved it.
struct RequestParties: Sendable, Equatable {
    /// The provider of the session's user, or the provider that made the request.
    var provider: ProviderID?
    var app: ApplicationID?
    /// The device of the connection's certificate.
    var device: DeviceID?
    /// The administrator of the connection's certificate, in the console.
    var administrator: AdministratorID?

    init(provider: ProviderID? = nil, app: ApplicationID? = nil, device: DeviceID? = nil) {
        (self.provider, self.app, self.device) = (provider, app, device)
    }

    init(_ session: Session) {
        self.init(provider: session.providerID, app: session.applicationID, device: session.deviceID)
    }

    func visit(_ member: (_ name: StaticString, _ id: UUID) -> Void) {
        if let provider { member("provider_id", provider.uuid) }
        if let app { member("app_id", app.uuid) }
        if let device { member("device_id", device.uuid) }
        if let administrator { member("admin_id", administrator.uuid) }
    }
}
