import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Service {
    struct NewMessage: Sendable {
        let id: MessageID
        let body: MessageBody
        let inReplyTo: MessageID?

        /// Parses a request.
        ///
        /// - Throws: `Refusal` `malformed_request`, `payload_too_large`.
        package init(id: String, parts: JSONValue, inReplyTo: String?) throws(Refusal) {
            guard let id = MessageID(id[...]) else { throw Refusal.notUUID(.newID) }
            self.id = id
            body = try MessageBody(parts)
            self.inReplyTo = try inReplyTo.map { text throws(Refusal) in
                guard let reply = MessageID(text[...]) else {
                    throw Refusal.notUUID(.repliedMessage)
                }
                return reply
            }
        }
    }

    /// Appends a message to a stream, with a number and a time. A repetition gets the same response and has no effect.
    ///
    /// - Throws: `Refusal` `not_found` for a stream that the user cannot see, for another user's message id, and for a
    ///   reply to an unknown message. `user_banned`, `not_verified` for either side. `conflict` if the stream is
    ///   closed, the id belongs to another message, or the quota is used up. `rate_limited`, `unavailable`.
    func appendMessage(
        _ request: NewMessage, to stream: String, for session: Session
    ) async throws -> StreamMessage {
        try await act(
            for: session, in: stream, ahead: lookAhead(request, in: stream, of: session)
        ) { transaction, holder, events in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let found = try access.require(.append, stream)
            let key = try access.key(found.stream.id)
            let messages = StreamMessageRepository(transaction)
            if let earlier = try messages.find(request.id, in: found.stream.id) {
                return try Self.requireSame(earlier, request, key, holder.user.id)
            }
            let thread = try request.inReplyTo.map { id in
                guard let head = try messages.find(id, in: found.stream.id) else {
                    throw Refusal.unknownRepliedMessage
                }
                return head.thread ?? head.id
            }
            let text = request.body.json.jsonText
            let stored = try StreamUserRepository(transaction).storedBytes(of: holder.user.id)
            let isKept = try !MessageStorageRepository(transaction).isDeclined(in: found.stream.id)
            try requireRoom(for: Int64(text.utf8.count), beside: stored)
            let sealed = try key.seal(text, in: .messageBody, of: request.id)
            let size = max(StreamMessage.smallestSize, Int64(sealed.count))
            try requireRoom(for: size, beside: stored)
            // All reading ends here: writes are sent together with the commit.
            let members = StreamMemberRepository(transaction)
            let (readers, pushed) = try (
                members.present(in: found.stream.id), members.pushed(in: found.stream.id, besides: holder.user.id)
            )
            let calls = PushCalls(self)
            let callee = try calls.callee(of: found.stream, readers, in: transaction)
            guard
                let number = try MessageStreamRepository(transaction).takeNumber(
                    of: found.stream, at: transaction.now)
            else { throw Refusal.unknownStream }
            if found.stream.kind == .call { try requireTurn(number, found.stream, holder.user.id, transaction.now) }
            let message = StreamMessage(
                streamID: found.stream.id, sequence: number, id: request.id, senderID: holder.user.id,
                sentAt: transaction.now, inReplyTo: request.inReplyTo, thread: thread, size: size, sealedBody: sealed,
                keptUntil: isKept ? nil : transaction.now.addingTimeInterval(policy[\.streams].undeliveredMessages))
            try messages.insert(message)
            try follow(message, found, access, readers, &events)
            if let callee {
                try calls.queue(message, callee, in: found.stream, from: session.deviceID, transaction, &events)
            } else {
                try PushMessages(self).queue(
                    message, of: found.stream.providerID, to: pushed, in: transaction, &events)
            }
            // Last, so that the sender's row is locked in the order of the members' rows.
            try StreamUserRepository(transaction).add(bytes: size, of: holder.user.id)
            return message
        }
    }

    private func lookAhead(_ request: NewMessage, in stream: String, of session: Session) -> SessionHolder.Ahead {
        let keys = keys.personal
        return MessageStreamAccess.lookAhead(stream, of: session) { id, transaction in
            _ = try StreamKeyRepository(transaction, keys: keys).find(id)
            for message in [request.id, request.inReplyTo] {
                if let message { _ = try StreamMessageRepository(transaction).find(message, in: id) }
            }
            _ = try StreamUserRepository(transaction).storedBytes(of: session.userID)
            _ = try MessageStorageRepository(transaction).isDeclined(in: id)
            _ = try StreamMemberRepository(transaction).pushed(in: id, besides: session.userID)
        }
    }

    private static func requireSame(
        _ earlier: StreamMessage, _ request: NewMessage, _ key: StreamKey, _ user: UserID
    ) throws -> StreamMessage {
        guard earlier.senderID == user else { throw Refusal.idTaken }
        // The body of an expired message cannot be compared.
        if earlier.isExpired { return earlier }
        guard let sealed = earlier.sealedBody else {
            throw Refusal.messageDeleted
        }
        guard earlier.inReplyTo == request.inReplyTo,
            try key.open(sealed, in: .messageBody, of: earlier.id) == request.body.json.jsonText
        else { throw Refusal.idReused(state: "sent") }
        return earlier
    }

    /// After the number was taken: if two devices pick up at the same time, only one has the second number.
    private func requireTurn(_ number: Int64, _ stream: MessageStream, _ user: UserID, _ now: Date) throws {
        let turn = CallTurn(
            number: number, isCaller: stream.createdBy == user, age: now.timeIntervalSince(stream.createdAt),
            ringing: policy[\.calls].ringing)
        switch turn {
        case .allowed: return
        case .others: throw Refusal.notYourTurn
        case .answered: throw Refusal.callAnswered
        case .missed: throw Refusal.callMissed
        }
    }

    private var limit: Int64 { Int64(policy[\.streams].storedBytes) }

    /// The user's row is locked, so it does not change before the commit.
    private func requireRoom(for size: Int64, beside stored: Int64) throws {
        guard stored <= limit - max(StreamMessage.smallestSize, size) else { throw Refusal.messagesExhausted(limit) }
    }

    /// Reports the message to the members. A sender who has read all other messages has read this one too.
    private func follow(
        _ message: StreamMessage, _ found: MessageStreamAccess.Found, _ access: MessageStreamAccess,
        _ readers: [UserID], _ events: inout RecordedEvents
    ) throws {
        if let sender = found.member, sender.readThrough == message.sequence - 1 {
            try StreamMemberRepository(access.transaction).setReceipts(
                (message.sequence, message.sequence), of: sender.userID, in: message.streamID)
        }
        try access.note(.newMessage, message.streamID, for: readers, &events)
    }
}
