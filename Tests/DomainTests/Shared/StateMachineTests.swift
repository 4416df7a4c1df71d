import Domain
import Testing

@Suite("The two state machines")
struct StateMachineTests {
    @Test("A connection moves as the protocol's diagram says, and in no other way")
    func connection() {
        let allowed: [(ConnectionState, ConnectionState.Event, ConnectionState)] = [
            (.uncertified, .certify, .disconnected), (.disconnected, .connect, .connected),
            (.connected, .disconnect, .disconnected), (.uncertified, .revoke, .uncertified),
            (.disconnected, .revoke, .uncertified), (.connected, .revoke, .uncertified),
        ]
        for state in ConnectionState.allCases {
            for event in ConnectionState.Event.allCases {
                let expected = allowed.first { $0.0 == state && $0.1 == event }?.2
                #expect(state.after(event) == expected, "\(state) on \(event)")
            }
        }
    }

    @Test("A session moves as the diagram says; without a connection the service alone ends or challenges it")
    func session() {
        let allowed: [(Session.State, Session.State.Event, Session.State)] = [
            (.unauthenticated, .create, .authenticated), (.authenticated, .challenge, .challenged),
            (.challenged, .renew, .authenticated), (.authenticated, .destroy, .unauthenticated),
            (.challenged, .destroy, .unauthenticated),
        ]
        for caller in Session.State.Caller.allCases {
            for connection in ConnectionState.allCases {
                for state in Session.State.allCases {
                    for event in Session.State.Event.allCases {
                        let isPossible =
                            connection == .connected || event == .destroy || event == .challenge && caller == .service
                        let expected = isPossible ? allowed.first { $0.0 == state && $0.1 == event }?.2 : nil
                        #expect(
                            state.after(event, while: connection, by: caller) == expected,
                            "\(state) on \(event), \(connection), by the \(caller)")
                    }
                }
            }
        }
    }

    @Test("What the service does to many sessions at once is what the machine allows for each")
    func transitions() {
        #expect(SessionTransition.destroyedByService.from == [.authenticated, .challenged])
        #expect(SessionTransition.destroyedByService.to == .unauthenticated)
        #expect(SessionTransition.challengedByService.from == [.authenticated])
        #expect(SessionTransition.challengedByService.to == .challenged)
        // Renewal is for the device to ask for, over its connection.
        #expect(SessionTransition(.renew, while: .disconnected, by: .service) == nil)
        #expect(SessionTransition(.create, while: .disconnected, by: .service) == nil)
    }

    @Test("An effective state comes to one of the machine's: what has expired is over")
    func effective() {
        let states: [(Session.EffectiveState, Session.State)] = [
            (.authenticated, .authenticated), (.challenged, .challenged), (.expired, .unauthenticated),
            (.destroyed, .unauthenticated),
        ]
        for (effective, state) in states { #expect(effective.machineState == state) }
    }
}
