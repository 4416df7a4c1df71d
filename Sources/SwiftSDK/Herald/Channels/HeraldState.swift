/// The server's side of a connection (source §3.3): which frames are allowed, and their effects. It decides; the
/// connection acts.
public struct HeraldState: Sendable {
    /// The number of failed authentications that ends a connection.
    static let maximumFailures = 5

    public private(set) var phase = Phase.initial
    public private(set) var channels: ChannelTable
    private var failures = 0
    /// The frames without a message in the current window, and its beginning in nanoseconds.
    private var idleFrames: (count: Int, since: UInt64) = (0, 0)
    private static let maximumIdleFrames = 1000
    private static let idleWindow: UInt64 = 5_000_000_000

    /// Whether the peer sends so many frames without a message that the connection ends: 1,000 in 5 s.
    private mutating func isFlood(_ frame: Frame, at now: UInt64) -> Bool {
        if case .data(let data) = frame, !data.payload.isEmpty { return false }
        if now < idleFrames.since || now - idleFrames.since >= Self.idleWindow { idleFrames = (0, now) }
        idleFrames.count += 1
        return idleFrames.count > Self.maximumIdleFrames
    }
}

public extension HeraldState {
    enum Phase: Sendable, Equatable, CaseIterable {
        /// Only an initial frame is accepted.
        case initial
        case ready
        /// The connection acts for a session.
        case authenticated
    }

    /// What the connection must do, in this order.
    enum Action: Sendable, Equatable {
        case respond(HeraldError?)
        case keepalive
        /// Verify a token and report the result before another frame is read.
        case authenticate(token: [UInt8])
        /// The channel accepts pushes from now on.
        case startPush(UInt8)
        /// Discard a channel's calls and unsent messages.
        case drop(UInt8)
        /// Discard all channels' calls and unsent messages, and detach the session.
        case dropAll
        case call(ChannelTable.Message)
        /// Close the connection after its frames have been sent.
        case close
    }

    /// The state of a connection's session.
    enum Verdict: Sendable, Equatable {
        case holds
        case challenged
        case banned
        case ended
    }

    init(limits: ChannelTable.Limits) { channels = ChannelTable(limits: limits) }

    mutating func begin() {
        if phase == .initial { phase = .ready }
    }

    /// A frame was received. The session has been checked.
    mutating func receive(_ frame: Frame, at now: UInt64) -> [Action] {
        guard phase != .initial, !isFlood(frame, at: now) else { return [.close] }
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

    /// A token was verified: `nil` is success. Either way the previous session is detached.
    mutating func authenticated(_ error: HeraldError?) -> [Action] {
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

    /// The session was checked again: before a frame is acted on, before a push, and periodically.
    mutating func judge(_ verdict: Verdict) -> [Action] {
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

    /// Reports an error and ends the connection. Before an initial frame nothing is reported.
    mutating func end(_ error: HeraldError) -> [Action] {
        guard phase != .initial else { return [.close] }
        phase = .ready
        channels.removeAll()
        return [.dropAll, .respond(error), .close]
    }
}
