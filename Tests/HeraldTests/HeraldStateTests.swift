import Herald
import Testing

@Suite("The state of a connection of Herald")
struct HeraldStateTests {
    private static let limits = ChannelTable.Limits(message: 8, unfinished: 10)

    /// One of each kind, and what matters within a kind: a channel that is open (1 for calls, 2 for pushes) or not (9).
    private static let frames: [(String, Frame)] = [
        ("Auth", .authenticate(token: [1])), ("ChAdd", .addChannel(9, type: 1)),
        ("ChAdd push", .addChannel(9, type: 0)),
        ("ChAdd of no type", .addChannel(9, type: 2)), ("ChAdd again", .addChannel(1, type: 1)),
        ("ChDel", .deleteChannel(1)), ("ChDel unknown", .deleteChannel(9)), ("call", data(1, [1, 2])),
        ("part", data(1, [1], of: 2)), ("empty call", data(1, [])), ("call on push", data(2, [1])),
        ("call on none", data(9, [1])), ("sync request", data(1, [1], packet: 2)), ("large", data(1, [1], of: 9)),
        ("too much", data(1, [1, 2, 3], of: 2)), ("no progress", data(1, [], of: 2)), ("response", .response(nil)),
        ("keepalive", .keepalive),
    ]

    private static func data(_ channel: UInt8, _ payload: [UInt8], of total: Int? = nil, packet: UInt8 = 0) -> Frame {
        .data(DataFrame(packet: packet, channel: channel, total: UInt32(total ?? payload.count), payload: payload))
    }

    private func state(_ phase: HeraldState.Phase) -> HeraldState {
        var state = HeraldState(limits: Self.limits)
        guard phase != .initial else { return state }
        state.begin()
        guard phase != .ready else { return state }
        _ = state.authenticated(nil)
        #expect(state.receive(.addChannel(1, type: 1), at: 0) == [.respond(nil)])
        #expect(state.receive(.addChannel(2, type: 0), at: 0) == [.respond(nil), .startPush(2)])
        return state
    }

    @Test("closes after a thousand frames without a message in five seconds, and not after messages or later")
    func flood() {
        let idle: [Frame] = [.keepalive, .authenticate(token: [1]), .deleteChannel(9), Self.data(1, [])]
        for frame in idle {
            var state = state(.authenticated)
            var closed = 0
            for _ in 0..<1100 where state.receive(frame, at: 1) == [.close] { closed += 1 }
            // Two of the thousand opened the channels.
            #expect(closed == 102, "\(frame)")
            #expect(state.receive(.keepalive, at: 5_000_000_001) == [.keepalive])
        }
        var busy = state(.authenticated)
        for _ in 0..<2000 { #expect(busy.receive(Self.data(1, [1, 2]), at: 1).count == 1) }
    }

    @Test("answers every frame in every phase as the table has it")
    func table() {
        let ended = { (error: HeraldError) -> [HeraldState.Action] in [.dropAll, .respond(error), .close] }
        let none = [HeraldState.Action.respond(.notAuthenticated)]
        let call = { (payload: [UInt8]) -> [HeraldState.Action] in
            [.call(ChannelTable.Message(channel: 1, instance: 1, payload: payload))]
        }
        let auth: [HeraldState.Action] = [.authenticate(token: [1])]
        let rows: [String: (ready: [HeraldState.Action], authenticated: [HeraldState.Action])] = [
            "Auth": (auth, auth), "ChAdd": (none, [.respond(nil)]),
            "ChAdd push": (none, [.respond(nil), .startPush(9)]),
            "ChAdd of no type": (none, [.respond(.invalidType)]), "ChAdd again": (none, [.respond(.channelExists)]),
            "ChDel": (none, [.drop(1), .respond(nil)]), "ChDel unknown": (none, [.respond(.unknownChannel)]),
            "call": (ended(.notAuthenticated), call([1, 2])), "part": (ended(.notAuthenticated), []),
            "empty call": (ended(.notAuthenticated), call([])),
            "call on push": (ended(.notAuthenticated), ended(.invalidType)),
            "call on none": (ended(.notAuthenticated), ended(.unknownChannel)),
            "sync request": (ended(.notAuthenticated), ended(.invalidType)),
            "large": (ended(.notAuthenticated), ended(.tooLarge)),
            "too much": (ended(.notAuthenticated), ended(.malformed)),
            "no progress": (ended(.notAuthenticated), ended(.malformed)),
            "response": (ended(.malformed), ended(.malformed)), "keepalive": ([.keepalive], [.keepalive]),
        ]
        #expect(rows.count == Self.frames.count)
        for (name, frame) in Self.frames {
            var initial = state(.initial)
            #expect(initial.receive(frame, at: 0) == [.close], "\(name) before the initial frame")
            #expect(initial.phase == .initial)
            var ready = state(.ready)
            #expect(ready.receive(frame, at: 0) == rows[name]?.ready, "\(name) before Auth")
            #expect(ready.phase == .ready)
            var authenticated = state(.authenticated)
            let actions = authenticated.receive(frame, at: 0)
            #expect(actions == rows[name]?.authenticated, "\(name) after Auth")
            #expect(authenticated.phase == (actions.contains(.close) ? .ready : .authenticated), "\(name)")
        }
    }

    @Test("a success and a failure of Auth both close all channels; the fifth failure, and a ban, end the connection")
    func authentication() {
        var one = state(.authenticated)
        #expect(one.authenticated(nil) == [.dropAll, .respond(nil)])
        #expect(one.receive(.deleteChannel(1), at: 0) == [.respond(.unknownChannel)])
        for _ in 1...4 {
            #expect(one.authenticated(.notAuthenticated) == [.dropAll, .respond(.notAuthenticated)])
            #expect(one.phase == .ready)
            _ = one.authenticated(nil)
        }
        #expect(one.authenticated(.challenged) == [.dropAll, .respond(.challenged), .close])
        var banned = state(.ready)
        #expect(banned.authenticated(.banned) == [.dropAll, .respond(.banned), .close])
        var initial = state(.initial)
        #expect(initial.authenticated(nil) == [.close])
    }

    @Test("a session that is judged anew keeps its channels, loses them, or loses the connection")
    func judged() {
        let rows: [(HeraldState.Verdict, [HeraldState.Action])] = [
            (.holds, []), (.challenged, [.dropAll, .respond(.challenged)]),
            (.banned, [.dropAll, .respond(.banned), .close]),
            (.ended, [.dropAll, .respond(.notAuthenticated), .close]),
        ]
        for (verdict, actions) in rows {
            var one = state(.authenticated)
            #expect(one.judge(verdict) == actions)
            #expect(one.phase == (verdict == .holds ? .authenticated : .ready))
            #expect(one.channels.pushChannels == (verdict == .holds ? [2] : []))
            for phase in [HeraldState.Phase.initial, .ready] {
                var other = state(phase)
                #expect(other.judge(verdict).isEmpty)
            }
        }
    }

    @Test("a message comes in parts, of several channels by turns, and all that is unfinished has one bound")
    func parts() {
        var one = state(.authenticated)
        _ = one.receive(.addChannel(3, type: 1), at: 0)
        #expect(one.receive(Self.data(1, [1, 2, 3, 4], of: 8), at: 5).isEmpty)
        #expect(one.receive(Self.data(3, [7, 8, 9], of: 6), at: 4).isEmpty)
        #expect(one.channels.unfinished == 7 && one.channels.oldestUnfinished == 4)
        #expect(
            one.receive(Self.data(3, [1, 2, 3], of: 6), at: 6)
                == [.call(ChannelTable.Message(channel: 3, instance: 3, payload: [7, 8, 9, 1, 2, 3]))])
        #expect(one.channels.unfinished == 4 && one.channels.oldestUnfinished == 5)
        // Another total within a message.
        var other = one
        #expect(other.receive(Self.data(1, [5], of: 7), at: 7).contains(.respond(.malformed)))
        #expect(one.receive(Self.data(3, [1, 2, 3, 4, 5, 6], of: 8), at: 7).isEmpty)
        #expect(one.receive(Self.data(1, [5], of: 8), at: 8).contains(.respond(.tooLarge)))
        #expect(one.channels.unfinished == 0 && one.channels.oldestUnfinished == nil)
    }

    @Test("a channel that is closed takes its unfinished message with it, and its number may be another's")
    func reused() {
        var one = state(.authenticated)
        _ = one.receive(Self.data(1, [1], of: 2), at: 1)
        #expect(one.receive(.deleteChannel(1), at: 2) == [.drop(1), .respond(nil)])
        #expect(one.channels.unfinished == 0)
        #expect(!one.channels.isOpen(1, 1))
        #expect(one.receive(.addChannel(1, type: 1), at: 3) == [.respond(nil)])
        #expect(
            one.receive(Self.data(1, [9]), at: 4)
                == [.call(ChannelTable.Message(channel: 1, instance: 3, payload: [9]))])
        #expect(one.channels.isOpen(1, 3))
    }

    @Test("takes 255 channels, from 0 to 254")
    func channels() {
        var one = state(.ready)
        _ = one.authenticated(nil)
        for id in 0...Frame.lastChannel { #expect(one.receive(.addChannel(id, type: 1), at: 0) == [.respond(nil)]) }
        #expect(one.receive(.addChannel(254, type: 1), at: 0) == [.respond(.channelExists)])
    }
}
