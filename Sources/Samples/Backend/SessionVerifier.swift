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
    package let issuedAt, expiresAt: Date
}

/// Verifies a session's token (RFC 9068) without a call, and that the device of this connection is the one that the
/// token is bound to (RFC 8705 §3).
///
/// A backend needs nothing else. A token expires after at most five minutes. For this time a session that has ended at
/// Countersign may still be accepted here.
package final class SessionVerifier: Sendable {
    private let keys: ServiceKeys
    private let issuer, audience: String
    /// The times at which sessions logged out here. Their earlier tokens are refused.
    private let loggedOut = Mutex<[String: Date]>([:])

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
            user: claims.user, session: claims.sid, issuedAt: Date(timeIntervalSince1970: claims.iat), expiresAt: end)
        guard !isLoggedOut(caller) else { throw Self.refusal("the session has logged out") }
        return caller
    }

    /// Refuses every token of the session that was issued before now.
    func logOut(_ caller: Caller) {
        loggedOut.withLock { sessions in
            let now = Date()
            // No token lives longer than five minutes.
            if sessions.count >= 10_000 { sessions = sessions.filter { now.timeIntervalSince($0.value) < 600 } }
            sessions[caller.session] = now
        }
    }

    private func isLoggedOut(_ caller: Caller) -> Bool {
        loggedOut.withLock { $0[caller.session] }.map { caller.issuedAt <= $0 } ?? false
    }

    private struct Header: Decodable { let alg, kid, typ: String }

    private struct Claims: Decodable {
        struct Confirmation: Decodable {
            let thumbprint: String?
            enum CodingKeys: String, CodingKey { case thumbprint = "x5t#S256" }
        }
        let iss, aud, sid, user: String
        let iat, exp: TimeInterval
        let cnf: Confirmation?
        enum CodingKeys: String, CodingKey {
            case iss, aud, sid, iat, exp, cnf
            case user = "external_id"
        }
    }

    private func claims(of token: Substring) async throws -> Claims {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Data(base64URL: parts[0]), let body = Data(base64URL: parts[1]),
            let signature = Data(base64URL: parts[2]), let header = try? JSONDecoder().decode(Header.self, from: head),
            header.typ == "at+jwt"
        else { throw Self.refusal("this is not an access token") }
        let signed = Data(token.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
        guard let key = try await keys.key(header.kid), key.isValid(signature, over: signed, algorithm: header.alg),
            let claims = try? JSONDecoder().decode(Claims.self, from: body)
        else { throw Self.refusal("the token is not signed by Countersign") }
        return claims
    }

    private static func refusal(_ reason: String) -> HTTPError {
        HTTPError(
            .unauthorized, headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#], message: reason)
    }
}
