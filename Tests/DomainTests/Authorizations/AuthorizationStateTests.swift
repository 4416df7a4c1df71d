import Encoding
import Foundation
import Testing

@testable import Domain

@Suite("An authorization between users")
struct AuthorizationStateTests {
    private typealias State = MessagingPermission.State

    @Test("moves as the table says in every state and on every event, and in no other way")
    func table() {
        let allowed: [(State?, State.Event, State)] = [
            (nil, .request, .request),
            (.request, .approve, .approval), (.request, .reject, .rejected), (.request, .cancelByRequester, .cancelled),
            (.request, .expire, .expired), (.request, .ban, .banned),
            (.approval, .cancelByRequester, .cancelled), (.approval, .cancelByRecipient, .cancelled),
            (.approval, .ban, .banned),
        ]
        let repeated: [(State?, State.Event)] = [
            (.request, .request), (.approval, .approve), (.rejected, .reject), (.cancelled, .cancelByRequester),
            (.cancelled, .cancelByRecipient), (.expired, .expire), (.banned, .ban),
        ]
        var moves = 0
        for state in [nil] + State.allCases.map(Optional.some) {
            for event in State.Event.allCases {
                let move = State.move(from: state, on: event)
                let next = allowed.first { $0.0 == state && $0.1 == event }?.2
                if let next {
                    #expect(move == .to(next), "\(String(describing: state)) on \(event)")
                    moves += 1
                } else if repeated.contains(where: { $0.0 == state && $0.1 == event }) {
                    #expect(move == .stays, "\(String(describing: state)) on \(event)")
                } else {
                    #expect(move == .forbidden, "\(String(describing: state)) on \(event)")
                }
            }
        }
        #expect(moves == allowed.count)
    }

    @Test("ends for good in each state but REQUEST and APPROVAL")
    func finality() {
        for state in State.allCases where !state.isOpen {
            for event in State.Event.allCases {
                let move = State.move(from: state, on: event)
                #expect(move == (event.outcome == state ? .stays : .forbidden), "\(state) on \(event)")
            }
        }
    }

    private static let start = Date(timeIntervalSince1970: 1_800_000_000)
    private static let users = (UserID(UUID()), UserID(UUID()))

    private static func authorization(_ state: State, isDelivered: Bool = true) -> MessagingPermission {
        MessagingPermission(
            id: AuthorizationID(UUID()), providerID: ProviderID(UUID()), requesterID: users.0, recipientID: users.1,
            target: Digest256.of("target"), isDelivered: isDelivered, state: state, createdAt: start,
            expiresAt: start + 1000, changedAt: start, sealedTo: nil, sealedEvent: nil)
    }

    @Test("ends the crossed request by an approval or a rejection, and everything by the end of a permission")
    func crossed() {
        let now = Self.start + 1
        let ending: [State.Event: Set<State>] = [
            .approve: [.request], .reject: [.request], .cancelByRequester: [.approval], .cancelByRecipient: [.approval],
        ]
        for event in State.Event.allCases {
            for state in State.allCases {
                let other = Self.authorization(state)
                for crossed in State.allCases.map({ Self.authorization($0) }) {
                    let ended = crossed.after(event, of: other, now: now)
                    let isDecided = (try? other.after(event, now: now)) != nil
                    guard isDecided, crossed.state.isOpen else { continue }
                    #expect((ended != nil) == (ending[event]?.contains(state) == true), "\(event) of \(state)")
                    guard let ended else { continue }
                    #expect(ended.state == .cancelled && ended.changedAt == now && ended.id == crossed.id)
                    #expect(ended.replacedBy == (event == .approve ? other.id : nil))
                }
            }
        }
        let request = Self.authorization(.request)
        #expect(request.after(.approve, of: request, now: now) == nil)
        #expect(request.after(.approve, of: Self.authorization(.request), now: Self.start + 1000) == nil)
        #expect(Self.authorization(.rejected).after(.approve, of: request, now: now) == nil)
    }

    @Test("permits by a grant string of both user ids while it is approved, and by nothing else")
    func grant() {
        for state in State.allCases {
            let grant = Self.authorization(state).grant
            #expect(grant == (state == .approval ? "\(Self.users.0) -> \(Self.users.1)" : nil), "\(state)")
        }
    }

    @Test("expires unanswered by the clock alone, and what comes after that is gone")
    func expiry() throws {
        let request = Self.authorization(.request)
        #expect(request.state(now: Self.start + 999) == .request)
        #expect(request.state(now: Self.start + 1000) == .expired)
        #expect(Self.authorization(.approval).state(now: Self.start + 1000) == .approval)
        #expect(try request.after(.approve, now: Self.start + 999)?.state == .approval)
        for event in [State.Event.approve, .reject, .cancelByRequester, .cancelByRecipient, .ban] {
            #expect(throws: Refusal(.gone, "")) { try request.after(event, now: Self.start + 1000) }
        }
        #expect(try request.after(.expire, now: Self.start + 1000) == nil)
        let refusal = #expect(throws: Refusal.self) { try request.after(.cancelByRecipient, now: Self.start) }
        #expect(refusal?.code == .conflict)
        #expect(refusal?.state == "REQUEST")
    }

    @Test("forbids another request while it is open and for 30 days after it was declined")
    func again() throws {
        let policy = AuthorizationPolicy()
        let month = 30 * 86_400.0
        for state in State.allCases {
            let found = Self.authorization(state)
            let isForbidden = state.isOpen || state == .rejected
            if isForbidden {
                let refusal = #expect(throws: Refusal.self) {
                    try found.requireAskableAgain(now: Self.start + 1, policy: policy)
                }
                #expect(refusal?.state == state.rawValue)
            } else {
                try found.requireAskableAgain(now: Self.start + 1, policy: policy)
            }
        }
        let rejected = Self.authorization(.rejected)
        #expect(throws: Refusal(.conflict, "")) {
            try rejected.requireAskableAgain(now: Self.start + month - 1, policy: policy)
        }
        try rejected.requireAskableAgain(now: Self.start + month, policy: policy)
        try Self.authorization(.request).requireAskableAgain(now: Self.start + 1000, policy: policy)
    }

    @Test("tells the asked person of a request that may be seen, the requester of the answer, and nobody of the rest")
    func rows() {
        for state in State.allCases {
            let row = AuthorizationRow(of: Self.authorization(state))
            let recipient: UserID? =
                state == .request ? Self.users.1 : [.approval, .rejected].contains(state) ? Self.users.0 : nil
            #expect(row.recipientID == recipient, "\(state)")
            #expect(row.isSent == (recipient == nil ? nil : false), "\(state)")
        }
        let hidden = Self.authorization(.request, isDelivered: false)
        #expect(AuthorizationRow(of: hidden).recipientID == nil)
        #expect(hidden.box(of: Self.users.1) == nil)
        #expect(hidden.box(of: Self.users.0) == .outgoing)
        #expect(Self.authorization(.request).box(of: Self.users.1) == .incoming)
        #expect(Self.authorization(.request).box(of: UserID(UUID())) == nil)
    }

    @Test("reads user ids and addresses, and nothing else")
    func addresses() throws {
        let id = UserID(UUID())
        #expect(try AuthorizationAddress(id.description.uppercased()) == .user(id))
        let slug = try #require(Slug("test"))
        #expect(try AuthorizationAddress("test/a/b c") == .address(slug, externalID: "a/b c"))
        for text in [
            "", "test", "test/", "/alice", "Test/alice", "test/" + String(repeating: "x", count: 257), "test/\0",
        ] {
            #expect(throws: Refusal(.malformedRequest, "")) { try AuthorizationAddress(text) }
        }
    }
}
