import CountersignClient
import Foundation

/// What the tour uses, and the steps of its first user.
struct Tour: Sendable {
    let publicURL: String
    let clientURL: String
    let provider: String
    let authority: String
    /// The file with the texts that the service sends.
    let texts: String
    /// The operator's challenge of a session, as on the command line.
    let challenge: @Sendable (UUID) async throws -> Void
    /// The console in which an administrator challenges the sessions of the user. If it is `nil`, ``challenge`` does it.
    let console: TourConsole?
    let ban: @Sendable (UUID) async throws -> Void
    let lift: @Sendable (UUID) async throws -> Void
    /// `nil` if the keys have no invented issuer of credentials.
    let wallet: TourWallet?
    let script = TourScript()

    func walk() async throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "countersign-tour-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }
        do {
            try await walk(in: place)
        } catch let error as Refusal {
            throw CommandFailure("\(error)")
        } catch let error as SignInFailure {
            throw CommandFailure("\(error)")
        }
    }

    private func walk(in place: URL) async throws {
        let person = try TourPerson(self, directory: place.appending(path: "first"))
        try await person.arrive("A new device gets its key certified")
        let session = try await person.signIn()
        let known = try await person.events()
        script.show(
            "The provider opens a stream of security events", "by Shared Signals", "events: \(known.count)")
        script.expect("A protected action")
        try await person.app.act()
        script.expect("The session is resumed on a second connection")
        _ = try await person.otherApp.resume()
        try await person.provePhone()
        try await person.showCard()
        try await person.proveAge(in: session)
        try await meet(person, TourPerson(self, directory: place.appending(path: "second")))

        try await hear(of: person)
        if let console {
            let status = try await console.challenge(session.userID)
            script.show("An administrator challenges the user's sessions", "a form of the console", status)
        } else {
            try await challenge(session.id)
            script.show("An operator challenges the session", "countersign session challenge", "done")
        }
        try await Task.sleep(for: .milliseconds(500))
        script.expect(
            "The same action is refused, with a fresh nonce", "The user proves the identity again: renewed",
            "The action is allowed again")
        try await person.app.act()
        script.expect("The second connection uses the new token")
        _ = try await person.otherApp.resume()
        script.expect("The user logs out")
        try await person.app.signOut()
        script.expect("The token is no longer valid")
        let refused = await Self.refusal { try await person.otherApp.act() }
        guard refused?.code == .sessionDestroyed else { throw CommandFailure("The token is still valid.") }
        let events = try await person.events()
        guard events.contains("session-revoked") else {
            throw CommandFailure("The provider received no event about the session: \(events).")
        }
        script.show(
            "The provider has the event, and has verified it", "GET /users/…/events", "session-revoked")
    }

    /// The provider reports an event, after which the user must sign in again.
    private func hear(of person: TourPerson) async throws {
        try await person.changePassword()
        script.expect(
            "The session was challenged by the provider's event", "The user proves the identity again: renewed",
            "The action is allowed again")
        try await person.app.act()
    }

    /// The service's refusal of a call; `nil` if the call succeeded.
    static func refusal(_ call: () async throws -> Void) async -> Problem? {
        do { try await call() } catch { return (error as? Refusal)?.problem }
        return nil
    }
}
