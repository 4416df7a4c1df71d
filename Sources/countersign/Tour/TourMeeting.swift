import AsyncHTTPClient
import Domain
import Encoding
import Foundation
import NIOHTTP1

/// The tour's steps with a second user: a request to message, its approval, and a ban.
extension Tour {
    /// Signs a second user in, up to the card, and lets the two users permit messages.
    mutating func meet(_ http: HTTPClient, _ sessionToken: String) async throws {
        var guest = Tour(
            publicURL: publicURL, clientURL: clientURL, provider: provider, authority: authority, texts: texts,
            challenge: challenge, ban: ban, lift: lift)
        guest.count = count
        let (device, spare) = try await guest.arrive("A second user's device gets its key certified")
        do {
            try await guest.keepCompany(device, requester: http, sessionToken)
        } catch {
            try? await device.shutdown()
            try? await spare.shutdown()
            throw error
        }
        count = guest.count
        try await device.shutdown()
        try await spare.shutdown()
    }

    private mutating func keepCompany(_ http: HTTPClient, requester: HTTPClient, _ requesterToken: String) async throws
    {
        let session = try await signIn(http)
        let ownToken = try text(session, "session_token")
        guard let user = UserID(try text(session, "user_id")[...]) else {
            throw CommandFailure("The service named no user.")
        }
        try await provePhone(http, ownToken)
        try await showCard(http, ownToken)

        let id = UUID().uuidString.lowercased()
        let place = "\(clientURL)/authorizations/\(id)"
        _ = try await exchange(
            "The first user requests to message the second", requester, .POST, "\(clientURL)/authorizations",
            json: ["id": .string(id), "to": .string(user.description)], sessionToken: requesterToken,
            expecting: .created)
        let asked = try await exchange(
            "The second sees the requester", http, .GET, place, sessionToken: ownToken)
        let partner = asked["partner"]
        show(
            "initials \(partner?["initials"]?.text ?? "none"), level \(partner?["assurance"]?.text ?? "none"), no name",
            "",
            "", nil)
        _ = try await exchange("… and agrees", http, .POST, "\(place)/approval", sessionToken: ownToken)
        let approved = try await exchange("Both may talk", requester, .GET, place, sessionToken: requesterToken)
        guard approved["grant"]?.text != nil else { throw CommandFailure("The answer lacks grant.") }

        try await ban(user)
        show("An operator bans the second user", "countersign ban add", "done", nil)
        try await Task.sleep(for: .milliseconds(500))
        let refused = try await exchange(
            "The banned user's next call is refused", http, .GET, place, sessionToken: ownToken,
            expecting: .unauthorized)
        _ = try await exchange(
            "So is another sign-in", http, .POST, "\(clientURL)/sessions",
            json: ["identity_token": try await identityToken(http, nonce: try text(refused, "nonce"))],
            expecting: .forbidden)
        let withdrawn = try await exchange(
            "And the permission has ended", requester, .GET, place, sessionToken: requesterToken)
        show("state: \(try text(withdrawn, "state"))", "", "", nil)
        try await lift(user)
        show("The operator lifts the ban; the number is free again", "countersign ban lift", "done", nil)
    }
}
