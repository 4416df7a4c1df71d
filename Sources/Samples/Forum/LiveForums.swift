import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOSSL
import NIOWebSocket
import SampleBackend

/// The connected members of each forum, and the events sent to them.
actor LiveForums {
    static let socketsOfUser = 8
    private static let allSockets = 5000

    struct Member: Sendable {
        let id = UUID()
        let caller: Caller
        let forum: UUID
        /// A browser has a ticket in place of a subscription.
        let subscription: UUID?
        let socket: WebSocketConnection
    }

    /// The messages of a WebSocket to its device.
    enum Event: Encodable, Sendable {
        /// The first event: the connected members, and the number of the latest message, from which the reader catches
        /// up.
        case welcome(online: [String], latest: Int64)
        case message(ForumStore.Message)
        case online(String, Bool)
        case refused(String)

        private enum CodingKeys: String, CodingKey { case type, message, user, online, latest }

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .welcome(let online, let latest):
                try members.encode("welcome", forKey: .type)
                try members.encode(online, forKey: .online)
                try members.encode(latest, forKey: .latest)
            case .message(let message):
                try members.encode("message", forKey: .type)
                try members.encode(message, forKey: .message)
            case .online(let user, let isOnline):
                try members.encode("online", forKey: .type)
                try members.encode(user, forKey: .user)
                try members.encode(isOnline, forKey: .online)
            case .refused(let why):
                try members.encode("error", forKey: .type)
                try members.encode(why, forKey: .message)
            }
        }

        var text: String {
            (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        }
    }

    private var forums: [UUID: [UUID: Member]] = [:]
    private var sockets: [String: Int] = [:]
    private var total = 0

    /// Whether a user may open another WebSocket.
    func hasRoom(for user: String) -> Bool {
        total < Self.allSockets && sockets[user, default: 0] < Self.socketsOfUser
    }

    /// Adds a WebSocket and greets it. The other members are notified.
    ///
    /// - Returns: `false` if the forum, or the user, has the maximum number of connections.
    func join(_ member: Member, latest: Int64) -> Bool {
        let user = member.caller.user
        guard hasRoom(for: user) else { return false }
        let wasOnline = isOnline(user, in: member.forum)
        (total, sockets[user]) = (total + 1, sockets[user, default: 0] + 1)
        forums[member.forum, default: [:]][member.id] = member
        member.socket.send(Event.welcome(online: online(in: member.forum), latest: latest).text)
        if !wasOnline { publish(.online(user, true), in: member.forum, except: member.id) }
        return true
    }

    func leave(_ member: Member) {
        let user = member.caller.user
        guard forums[member.forum]?.removeValue(forKey: member.id) != nil else { return }
        if forums[member.forum]?.isEmpty == true { forums[member.forum] = nil }
        (total, sockets[user]) = (total - 1, sockets[user].flatMap { $0 > 1 ? $0 - 1 : nil })
        if !isOnline(user, in: member.forum) { publish(.online(user, false), in: member.forum) }
    }

    func publish(_ event: Event, in forum: UUID, except skipped: UUID? = nil) {
        let text = event.text
        for (id, member) in forums[forum] ?? [:] where id != skipped { member.socket.send(text) }
    }

    /// The names of connected members, sorted.
    func online(in forum: UUID) -> [String] {
        Set((forums[forum] ?? [:]).values.map(\.caller.user)).sorted()
    }

    /// Closes the WebSockets that satisfy a condition.
    func close(_ applies: (Member) -> Bool) {
        for member in forums.values.flatMap(\.values) where applies(member) {
            member.socket.close(.policyViolation)
        }
    }

    private func isOnline(_ user: String, in forum: UUID) -> Bool {
        (forums[forum] ?? [:]).values.contains { $0.caller.user == user }
    }
}

/// `websocket/{id}`, with the id of a subscription. It closes when its token expires, and the device reconnects with a
/// newer one. It closes at once by the event of the session's end.
struct SocketRoute: Sendable {
    let board: Board
    let verify: SessionVerifier

    @Sendable func admit(
        _ path: String, _ authorization: String?, _ channel: any Channel
    ) async -> SocketVerdict {
        do {
            let certificate = try await channel.nioSSL_peerCertificate().get()
            let caller = try await verify.verify(authorization, shownBy: certificate)
            let parts = path.prefix { $0 != "?" }.split(separator: "/")
            guard parts.count == 2, parts[0] == "websocket", let id = UUID(uuidString: String(parts[1])),
                let subscription = try await board.store.subscription(id, of: caller.user)
            else { return .refused(.notFound) }
            guard await board.live.hasRoom(for: caller.user) else { return .refused(.tooManyRequests) }
            return .open { socket in
                await serve(
                    socket, caller, forum: subscription.forum, subscription: subscription.id, until: caller.expiresAt)
            }
        } catch let error as HTTPError {
            return .refused(error.status)
        } catch {
            return .refused(.internalServerError)
        }
    }

    /// Exchanges messages in a forum until the WebSocket closes, at the latest at a time.
    func serve(
        _ socket: WebSocketConnection, _ caller: Caller, forum: UUID, subscription: UUID? = nil, until time: Date
    ) async {
        let member = LiveForums.Member(caller: caller, forum: forum, subscription: subscription, socket: socket)
        let latest = try? await board.store.messages(of: forum, .init(size: 1)).first?.number
        guard await board.live.join(member, latest: latest ?? 0) else { return socket.close(.policyViolation) }
        // The session may have ended between its verification and this point.
        if verify.isEnded(caller) { socket.close(.policyViolation) }
        let end = Task {
            try await Task.sleep(for: Duration(time.timeIntervalSinceNow))
            socket.close(.policyViolation)
        }
        for await text in socket.texts {
            do {
                let draft = try JSONDecoder().decode(Board.Draft.self, from: Data(text.utf8))
                _ = try await board.post(draft, to: forum, by: caller.user)
            } catch {
                socket.send(LiveForums.Event.refused(Self.reason(error)).text)
            }
        }
        end.cancel()
        await board.live.leave(member)
    }

    private static func reason(_ error: any Error) -> String {
        (error as? HTTPError)?.body ?? "the message is malformed"
    }
}
