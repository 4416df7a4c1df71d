import Domain

extension Service {
    /// Receives the proven parties of the current request for its log line, which has them even if the request is refused
    /// later. `nil` outside a request.
    @TaskLocal package static var hearParties: (@Sendable (ProviderID, ApplicationID?) -> Void)?
}

/// Says whom a request concerns, once a signature or a secret has proved it. Everything that verifies one calls this.
enum ProvenParties {
    static func note(_ provider: ProviderID, _ app: ApplicationID? = nil) { Service.hearParties?(provider, app) }

    /// Notes the parties of a session whose token was shown, if it came from the session's own device.
    static func note(_ session: Session, on connection: ClientConnection) {
        guard session.thumbprint == connection.thumbprint else { return }
        note(session.providerID, session.applicationID)
    }
}
