import Domain

package extension Service {
    /// Runs the work of requests, and hears the proven parties of each for its log line, which has them even if the
    /// request is refused later.
    static func hearingParties<T>(
        _ hear: @escaping @Sendable (ProviderID, ApplicationID?) -> Void, during body: () async throws -> T
    ) async rethrows -> T {
        try await ProvenParties.$listener.withValue(ProvenParties.Listener(hear), operation: body)
    }
}

/// Says whom a request concerns, once a signature or a secret has proved it. Everything that verifies one calls this.
enum ProvenParties {
    /// A class, because a task-local function ends a release build of Swift 6.3: its type is missing at run time.
    final class Listener: Sendable {
        let hear: @Sendable (ProviderID, ApplicationID?) -> Void

        init(_ hear: @escaping @Sendable (ProviderID, ApplicationID?) -> Void) { self.hear = hear }
    }

    /// The listener of the current request; `nil` outside a request.
    @TaskLocal static var listener: Listener?

    static func note(_ provider: ProviderID, _ app: ApplicationID? = nil) { listener?.hear(provider, app) }

    /// Notes the parties of a session whose token was shown, if it came from the session's own device.
    static func note(_ session: Session, on connection: ClientConnection) {
        guard session.thumbprint == connection.thumbprint else { return }
        note(session.providerID, session.applicationID)
    }
}
