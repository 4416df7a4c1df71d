/// The server's side of a connection (source §3.3): what a frame does, and what it may not. It decides; the connection
/// acts.
package struct HeraldState: Sendable {
    package enum Phase: Sendable, Equatable, CaseIterable {
        /// Nothing but an initial frame is read.
        case initial
        case ready
        /// A session acts on the connection.
        case authenticated
    }

    /// What is to be done, in this order.
    package enum Action: Sendable, Equatable {
        case respond(HeraldError?)
        case keepalive
        /// Judge a token, and say what came of it, before another frame is read.
        case authenticate(token: [UInt8])
        /// The channel takes pushes from now on.
        case startPush(UInt8)
        /// What waits to leave on a channel, and the calls of it, are nobody's any more.
        case drop(UInt8)
        /// The same for all channels; the session is not this connection's any more.
        case dropAll
        case call(ChannelTable.Message)
        /// End the connection once its frames have left.
        case close
    }

    /// What is known of a connection's session at a moment.
    package enum Verdict: Sendable, Equatable {
        case holds
        case challenged
        case banned
        case ended
    }

    /// Failed authentications that end a connection.
    package static let maximumFailures = 5

    package private(set) var phase = Phase.initial
    package private(set) var channels: ChannelTable
    private var failures = 0

    package init(limits: ChannelTable.Limits) { channels = ChannelTable(limits: limits) }

    /// The initial frame has come.
    package mutating func begin() {
        if phase == .initial { phase = .ready }
    }

    /// A frame has come, and the session was judged before.
    package mutating func receive(_ frame: Frame, at now: UInt64) -> [Action] {
        guard phase != .initial else { return [.close] }
        switch frame {
        case .keepalive: return [.keepalive]
        case .authenticate(let token): return [.authenticate(token: token)]
        case .response: return end(.malformed)
        case .addChannel, .deleteChannel, .data: break
        }
        guard phase == .authenticated else {
            if case .data = frame { return end(.notAuthenticated) }
            return [.respond(.notAuthenticated)]
        }
        switch frame {
        case .addChannel(let id, let type):
            do throws(HeraldError) { try channels.add(id, type: type) } catch { return [.respond(error)] }
            return ChannelKind(rawValue: type) == .push ? [.respond(nil), .startPush(id)] : [.respond(nil)]
        case .deleteChannel(let id):
            do throws(HeraldError) { try channels.remove(id) } catch { return [.respond(error)] }
            return [.drop(id), .respond(nil)]
        case .data(let data):
            do throws(HeraldError) {
                return try channels.add(data, at: now).map { [.call($0)] } ?? []
            } catch {
                return end(error)
            }
        case .keepalive, .authenticate, .response: return []
        }
    }

    /// A token was judged: `nil` is success. Either way the session of before is this connection's no more.
    package mutating func authenticated(_ error: HeraldError?) -> [Action] {
        guard phase != .initial else { return [.close] }
        channels.removeAll()
        guard let error else {
            phase = .authenticated
            return [.dropAll, .respond(nil)]
        }
        phase = .ready
        failures += 1
        let ends = failures >= Self.maximumFailures || error == .banned
        return [.dropAll, .respond(error)] + (ends ? [.close] : [])
    }

    /// The session was judged anew: before a frame is acted on, before a push, and now and then.
    package mutating func judge(_ verdict: Verdict) -> [Action] {
        guard phase == .authenticated else { return [] }
        switch verdict {
        case .holds: return []
        case .challenged:
            phase = .ready
            channels.removeAll()
            return [.dropAll, .respond(.challenged)]
        case .banned: return end(.banned)
        case .ended: return end(.notAuthenticated)
        }
    }

    /// What cannot be gone on with is said, and ends the connection. Before an initial frame nothing is said.
    package mutating func end(_ error: HeraldError) -> [Action] {
        guard phase != .initial else { return [.close] }
        phase = .ready
        channels.removeAll()
        return [.dropAll, .respond(error), .close]
    }
}
