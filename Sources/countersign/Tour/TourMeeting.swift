import CountersignClient
import Foundation

/// The tour's steps with a second user: a request to message, its approval, and a ban.
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

        try await ban(session.userID)
        script.show("An operator bans the second user", "countersign ban add", "done")
        try await Task.sleep(for: .milliseconds(500))
        script.expect("The banned user's next call is refused", "So is another sign-in")
        let refused = await Self.refusal { _ = try await guest.app.permissions.show(id) }
        guard refused?.code == .userBanned else { throw CommandFailure("The banned user was let in.") }
        script.expect("And the permission has ended")
        let state = try await person.app.permissions.show(id).state
        script.show("state: \(state.rawValue)")
        try await lift(session.userID)
        script.show("The operator lifts the ban; the number is free again", "countersign ban lift", "done")
    }
}
