import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOSSL
import Synchronization

/// The caller, by the session's token.
package struct Caller: Sendable {
    /// The provider's own name of the user.
    package let user: String
    package let session: String
    let issuedAt: Date
    package let expiresAt: Date
    /// The time of the last identity token, by which an event that names only the user is compared.
    let authenticatedAt: Date
}

/// Verifies a session's token (RFC 9068) without a call, and that the device of this connection is the one that the
/// token is bound to (RFC 8705 §3).
///
/// A backend needs nothing else. A token expires after at most five minutes. For this time a session that has ended at
/// Countersign may still be accepted here, unless the backend receives ``SecurityEvents``.
package final class SessionVerifier: Sendable {
    let keys: ServiceKeys
    private let issuer, audience: String
    /// The times until which tokens of ended sessions are refused, by session and by user, with the time of the entry.
    private let ended = Mutex<[Subject: (until: Date, since: Date)]>([:])

    private enum Subject: Hashable {
        case session(String)
        case user(String)
    }

    /// - Parameter audience: the provider's id, or a URL that is registered for it.
    package init(_ sample: Sample, audience: String) {
        keys = ServiceKeys { try await sample.fetch("/.well-known/jwks.json") }
        issuer = sample.service
        self.audience = audience
    }
}

package extension SessionVerifier {
    /// The caller of a request on the device listener.
    ///
    /// - Throws: `401`; `503` if Countersign's keys are not known yet.
    func callAsFunction(_ request: Request, _ context: SampleContext) async throws -> Caller {
        let certificate = try? await context.channel.nioSSL_peerCertificate().get()
        return try await verify(request.headers[.authorization], shownBy: certificate)
    }

    /// ``callAsFunction(_:_:)`` for a connection that is to become a WebSocket.
    func verify(_ authorization: String?, shownBy certificate: NIOSSLCertificate?) async throws -> Caller {
        guard let der = try certificate?.toDERBytes() else { throw Self.refusal("the device has no certificate") }
        let words = authorization?.split(separator: " ", omittingEmptySubsequences: false) ?? []
        guard words.count == 2, words[0].lowercased() == "bearer", words[1].utf8.count <= 8192 else {
            throw Self.refusal("a Bearer token is required")
        }
        let claims = try await self.claims(of: words[1])
        guard claims.cnf?.thumbprint == Data(SHA256.hash(data: der)).base64URL else {
            throw Self.refusal("the token is bound to another device")
        }
        let (now, end) = (Date(), Date(timeIntervalSince1970: claims.exp))
        guard claims.iss == issuer, claims.aud == audience else {
            throw Self.refusal("the token is for another audience")
        }
        guard now < end else { throw Self.refusal("the token has expired") }
        let caller = Caller(
            user: claims.user, session: claims.sid, issuedAt: Date(timeIntervalSince1970: claims.iat), expiresAt: end,
            authenticatedAt: Date(timeIntervalSince1970: claims.authTime))
        guard !isEnded(caller) else { throw Self.refusal("the session has ended") }
        return caller
    }

    /// Refuses the tokens of an ended session that were issued before now.
    func refuse(_ end: SecurityEvents.SessionEnd) {
        let now = Date()
        ended.withLock { entries in
            // No token lives longer than five minutes.
            if entries.count >= 10_000 { entries = entries.filter { now.timeIntervalSince($0.value.since) < 600 } }
            switch end {
            case .session(let id): entries[.session(id)] = (until: now, since: now)
            case .user(let name, let time):
                let known = entries[.user(name)]?.until ?? time
                entries[.user(name)] = (until: max(known, time), since: now)
            }
        }
    }

    /// Whether the caller's session has ended since the token was verified.
    func isEnded(_ caller: Caller) -> Bool {
        ended.withLock { entries in
            if let entry = entries[.session(caller.session)], caller.issuedAt <= entry.until { return true }
            return entries[.user(caller.user)].map { caller.authenticatedAt <= $0.until } ?? false
        }
    }

    private struct Claims: Decodable {
        struct Confirmation: Decodable {
            let thumbprint: String?
            enum CodingKeys: String, CodingKey { case thumbprint = "x5t#S256" }
        }
        let iss, aud, sid, user: String
        let iat, exp, authTime: TimeInterval
        let cnf: Confirmation?
        enum CodingKeys: String, CodingKey {
            case iss, aud, sid, iat, exp, cnf
            case user = "external_id"
            case authTime = "auth_time"
        }
    }

    private func claims(of token: Substring) async throws -> Claims {
        guard let payload = try await keys.payload(of: token, type: "at+jwt"),
            let claims = try? JSONDecoder().decode(Claims.self, from: payload)
        else { throw Self.refusal("this is not an access token signed by Countersign") }
        return claims
    }

    private static func refusal(_ reason: String) -> HTTPError {
        HTTPError(
            .unauthorized, headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#], message: reason)
    }
}
