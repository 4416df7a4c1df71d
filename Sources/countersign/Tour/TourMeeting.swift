import CountersignClient
import Foundation

/// The tour's steps with a second user: a request to message, its approval, a message and its reply, and a ban.
extension Tour {
    /// Signs a second user in, up to the card, and lets the two users permit messages.
    func meet(_ person: TourPerson, _ guest: TourPerson) async throws {
        try await guest.arrive("A second user's device gets its key certified")
        let session = try await guest.signIn()
        try await guest.provePhone()
        try await guest.showCard()

        script.expect("The first user requests to message the second")
        let id = try await person.app.permissions.ask(session.userID.uuidString.lowercased())
        script.expect("The second sees the requester")
        let partner = try await guest.app.permissions.show(id).partner
        script.show(
            "initials \(partner?.initials ?? "none"), level \(partner?.assurance.rawValue ?? "none"), no name")
        script.expect("… and agrees")
        try await guest.app.permissions.answer(id, .approval)
        script.expect("Both may talk")
        guard try await person.app.permissions.show(id).grant != nil else {
            throw CommandFailure("The answer lacks grant.")
        }
        let stream = try await talk(person, guest, session)

        try await ban(session.userID)
        script.show("An operator bans the second user", "countersign ban add", "done")
        try await Task.sleep(for: .milliseconds(500))
        script.expect("The banned user's next call is refused", "So is another sign-in")
        let refused = await Self.refusal { _ = try await guest.app.permissions.show(id) }
        guard refused?.code == .userBanned else { throw CommandFailure("The banned user was let in.") }
        script.expect("And the permission has ended")
        let state = try await person.app.permissions.show(id).state
        script.show("state: \(state.rawValue)")
        script.expect("So has the stream: another message is refused")
        let unsent = await Self.refusal {
            try await person.app.streams.append(NewMessage([.text("Are you there?")]), to: stream)
        }
        guard unsent?.state == "closed" else { throw CommandFailure("The stream is open in spite of the ban.") }
        script.show("state: closed")
        try await lift(session.userID)
        script.show("The operator lifts the ban; the number is free again", "countersign ban lift", "done")
    }

    /// Sends a message from the first user to the second, and a reply.
    ///
    /// - Returns: their stream.
    private func talk(_ person: TourPerson, _ guest: TourPerson, _ session: Session) async throws -> UUID {
        let opening = StreamOpening(.direct, members: [session.userID.uuidString.lowercased()])
        script.expect("The first opens a stream of messages", "… and sends a message")
        try await person.app.streams.open(opening)
        let hello = NewMessage([.text("Hello")])
        try await person.app.streams.append(hello, to: opening.id)
        script.expect("The second's device learns of it", "… and reads it")
        let changed = try await guest.app.streams.synchronize().operations.map(\.streamID)
        let found = try await guest.app.streams.messages(in: opening.id, after: 0)
        guard changed == [opening.id], found.messages.map(\.id) == [hello.id] else {
            throw CommandFailure("The message did not arrive.")
        }
        guard let sender = found.profiles.first, sender.userID == found.messages.first?.sender else {
            throw CommandFailure("The answer lacks the sender.")
        }
        script.show("from \(sender.address)")
        script.expect("A reply begins a thread", "The receipt says: read")
        let reply = try await guest.app.streams.append(
            NewMessage([.text("Hello to you")], inReplyTo: hello.id), to: opening.id)
        try await guest.app.streams.acknowledge(readThrough: reply.sequence, in: opening.id)
        script.expect("The first sees both")
        let members = try await person.app.streams.show(opening.id).members
        guard reply.thread == hello.id, members.first(where: { $0.userID == session.userID })?.readThrough == 2 else {
            throw CommandFailure("The answer lacks the receipt.")
        }
        script.show("a thread of 2 messages, read through message 2")
        return opening.id
    }
}
