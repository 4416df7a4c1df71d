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

    @Test("A session moves as the protocol's diagram says, and without a connection it can only be destroyed")
    func session() {
        let allowed: [(SessionState, SessionState.Event, SessionState)] = [
            (.unauthenticated, .create, .authenticated), (.authenticated, .challenge, .challenged),
            (.challenged, .renew, .authenticated), (.authenticated, .destroy, .unauthenticated),
            (.challenged, .destroy, .unauthenticated),
        ]
        for connection in ConnectionState.allCases {
            for state in SessionState.allCases {
                for event in SessionState.Event.allCases {
                    let isPossible = connection == .connected || event == .destroy
                    let expected = isPossible ? allowed.first { $0.0 == state && $0.1 == event }?.2 : nil
                    #expect(state.after(event, while: connection) == expected, "\(state) on \(event), \(connection)")
                }
            }
        }
    }
}
