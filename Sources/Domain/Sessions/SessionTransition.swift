/// The effect of an event on many sessions at once, by the state machine. Sessions in other states stay unchanged.
package struct SessionTransition: Sendable, Equatable {
    /// The states that the event is allowed in.
    package let from: [Session.State]
    /// The state after the event.
    package let to: Session.State

    private init(from: [Session.State], to: Session.State) { (self.from, self.to) = (from, to) }
}

package extension SessionTransition {
    /// Derives it from the state machine; `nil` if the machine allows the event in no state, or the states after it
    /// differ.
    init?(
        _ event: Session.State.Event, while connection: ConnectionState, by caller: Session.State.Caller
    ) {
        let from = Session.State.allCases.filter { $0.after(event, while: connection, by: caller) != nil }
        let targets = Set(from.compactMap { $0.after(event, while: connection, by: caller) })
        guard let to = targets.first, targets.count == 1 else { return nil }
        (self.from, self.to) = (from, to)
    }

    /// The service ends sessions, with or without a connection.
    static let destroyedByService =
        SessionTransition(.destroy, while: .disconnected, by: .service)
        ?? SessionTransition(from: [], to: .unauthenticated)

    /// The service challenges sessions, with or without a connection.
    static let challengedByService =
        SessionTransition(.challenge, while: .disconnected, by: .service)
        ?? SessionTransition(from: [], to: .challenged)
}
