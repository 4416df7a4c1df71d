/// What an event does to many sessions at once, by the state machine: those in other states stay as they are.
package struct SessionTransition: Sendable, Equatable {
    /// The states that the event is allowed in.
    package let from: [SessionState]
    /// The one state that it leads to.
    package let to: SessionState

    /// Asks the machine for every state; `nil` if it allows the event in none, or leads to more than one.
    package init?(
        _ event: SessionState.Event, while connection: ConnectionState, by caller: SessionState.Caller
    ) {
        let from = SessionState.allCases.filter { $0.after(event, while: connection, by: caller) != nil }
        let targets = Set(from.compactMap { $0.after(event, while: connection, by: caller) })
        guard let to = targets.first, targets.count == 1 else { return nil }
        (self.from, self.to) = (from, to)
    }

    private init(from: [SessionState], to: SessionState) { (self.from, self.to) = (from, to) }

    /// Whatever the connection: the service ends sessions.
    package static let destroyedByService =
        SessionTransition(.destroy, while: .disconnected, by: .service)
        ?? SessionTransition(from: [], to: .unauthenticated)

    /// Whatever the connection: the service challenges sessions.
    package static let challengedByService =
        SessionTransition(.challenge, while: .disconnected, by: .service)
        ?? SessionTransition(from: [], to: .challenged)
}
