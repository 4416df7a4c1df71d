import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization

/// Receives Countersign's security events (RFC 8417), which it pushes to the provider's webhook or to a stream's
/// address (RFC 8935). A session that has ended at Countersign is refused here a second later, not when its token
/// expires.
package final class SecurityEvents: Sendable {
    private let sample: Sample
    private let verify: SessionVerifier
    private let provider: String
    private let state = Mutex<(issuers: Set<String>, lastAt: Date?)>(([], nil))

    /// - Parameter provider: the provider's id, which is the audience of events.
    package init(_ sample: Sample, verify: SessionVerifier, provider: String) {
        (self.sample, self.verify, self.provider) = (sample, verify, provider)
    }
}

package extension SecurityEvents {
    /// What a security event ends: one session, or a user's sessions up to a time.
    enum SessionEnd: Sendable {
        case session(String)
        case user(String, at: Date)

        package func applies(to caller: Caller) -> Bool {
            switch self {
            case .session(let id): caller.session == id
            case .user(let name, let time): caller.user == name && caller.authenticatedAt <= time
            }
        }
    }

    /// Whether an event has arrived since the start, so that Countersign knows this address.
    var isReceiving: Bool { state.withLock { $0.lastAt != nil } }

    /// Adds `POST /events`, which answers `202` after the sessions are refused, or `400`. An event that arrives again
    /// has no further effect.
    ///
    /// - Parameter whenEnded: ends what is open for the sessions.
    func add(
        to router: Router<SampleContext>, whenEnded: @escaping @Sendable (SessionEnd) async -> Void
    ) {
        router.post("events") { [self] request, context in
            do {
                let body = try await request.body.collect(upTo: context.maxUploadSize)
                let end = try await read(String(buffer: body)[...])
                if let end {
                    verify.refuse(end)
                    await whenEnded(end)
                }
                return Response(status: .accepted)
            } catch let fault as Fault {
                return try Response.json(
                    ["err": "invalid_request", "description": fault.description], status: .badRequest)
            }
        }
    }

    /// Why an event is refused.
    private struct Fault: Error { let description: String }

    private struct Claims: Decodable {
        struct Subject: Decodable {
            struct Part: Decodable {
                let id, iss, sub: String?
            }

            let iss, sub: String?
            let user, session: Part?
        }

        struct Details: Decodable {}

        let iss, aud: String
        let toe: TimeInterval?
        let iat: TimeInterval
        let events: [String: Details]
        let subject: Subject
        let externalID: String?

        enum CodingKeys: String, CodingKey {
            case iss, aud, toe, iat, events
            case subject = "sub_id"
            case externalID = "external_id"
        }
    }

    private static let ending: Set = ["session-revoked", "account-disabled", "account-purged"]

    /// - Returns: `nil` for an event that ends nothing.
    private func read(_ token: Substring) async throws -> SessionEnd? {
        guard let payload = try await verify.keys.payload(of: token, type: "secevent+jwt"),
            let claims = try? JSONDecoder().decode(Claims.self, from: payload)
        else { throw Fault(description: "this is not a security event signed by Countersign") }
        guard try await issuers().contains(claims.iss), claims.aud == provider else {
            throw Fault(description: "the event is by another issuer, or for another audience")
        }
        state.withLock { $0.lastAt = Date() }
        guard
            claims.events.keys.contains(where: {
                Self.ending.contains($0.split(separator: "/").last.map(String.init) ?? "")
            })
        else { return nil }
        if let session = claims.subject.session?.id { return .session(session) }
        // A webhook's event has the provider's own name of the user in its subject, a stream's event in another claim.
        let named = claims.subject.user.map { ($0.iss, $0.sub) } ?? (claims.subject.iss, claims.subject.sub)
        guard let user = claims.externalID ?? (named.0 == provider ? named.1 : nil) else {
            throw Fault(description: "the event has an unknown form of subject")
        }
        return .user(user, at: Date(timeIntervalSince1970: claims.toe ?? claims.iat))
    }

    /// A webhook's events are issued by the realm, a stream's by the service.
    private func issuers() async throws -> Set<String> {
        struct Discovery: Decodable { let realm: String }
        let known = state.withLock { $0.issuers }
        guard known.isEmpty else { return known }
        let document = try await sample.fetch("/.well-known/countersign")
        let found: Set = [sample.service, try JSONDecoder().decode(Discovery.self, from: document).realm]
        state.withLock { $0.issuers = found }
        return found
    }
}
