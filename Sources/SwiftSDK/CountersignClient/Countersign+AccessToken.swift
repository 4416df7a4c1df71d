import Foundation
import HTTPTypes

/// A short-lived token of the session for the app's own backend (RFC 9068), bound to the device's key (RFC 9449).
public struct AccessToken: Sendable {
    public let value: String
    /// Its expiry, by the service's clock: after one to five minutes.
    public let expiresAt: Date
    let signer: DeviceToken
    let now: @Sendable () -> Date

    /// The header fields of one request to the backend. Each request needs its own.
    ///
    /// - Parameter url: its query is ignored.
    /// - Returns: `Authorization` and `DPoP`.
    public func headers(for method: String, _ url: URL) async throws(Refusal) -> [String: String] {
        let bare = String(url.absoluteString.prefix { $0 != "?" && $0 != "#" })
        let proof = try await signer.proof(method: method, url: bare, token: value, at: now())
        return ["Authorization": "DPoP \(value)", "DPoP": proof]
    }
}

extension Countersign {
    /// A token for the app's backend, which verifies it without a call. It is cached until shortly before its expiry.
    ///
    /// - Parameter audience: the id of the session's provider, or a URL that is registered for it.
    /// - Throws: `malformed_request` with reason `invalid_target`; ``Refusal/clock(offBy:)`` if this device's clock is
    ///   wrong.
    public func accessToken(for audience: String) async throws(Refusal) -> AccessToken {
        try load()
        if let kept = accessTokens[audience], kept.expiresAt.timeIntervalSince(serviceTime) > 15 { return kept }
        guard let user = record.session?.session.userID else { throw .signedOut }
        // By user, so that a user who signs in later gets a separate token.
        let key = "\(user.path) \(audience)"
        let task =
            exchangingTokens[key]
            ?? Task {
                let result = await exchangeToken(audience, of: user)
                exchangingTokens[key] = nil
                return result
            }
        exchangingTokens[key] = task
        return try await task.value.get()
    }

    /// The service's response with a token.
    private struct Exchanged: Decodable {
        let token: String
        /// The token's lifetime in seconds.
        let lifetime: TimeInterval

        private enum CodingKeys: String, CodingKey {
            case token = "access_token"
            case lifetime = "expires_in"
        }
    }

    private func exchangeToken(_ audience: String, of user: UUID) async -> Result<AccessToken, Refusal> {
        do throws(Refusal) {
            var hasRenewed = false
            while true {
                guard let session = record.session, session.session.userID == user else { throw .signedOut }
                guard let device = record.device else { throw .uncertified }
                let signer = DeviceToken(keys: keys, keyName: device.keyName)
                let (answer, serial) = try await exchange(try await tokenCall(audience, session, signer))
                guard let problem = try answer.problem() else {
                    let found: Exchanged = try answer.decode()
                    let token = AccessToken(
                        value: found.token, expiresAt: serviceTime.addingTimeInterval(found.lifetime), signer: signer,
                        now: now)
                    if record.session?.token == session.token {
                        if accessTokens.count >= 16 { accessTokens = [:] }
                        accessTokens[audience] = token
                    }
                    return .success(token)
                }
                if problem.code == .invalidDPoPProof, let wrongClock { throw wrongClock }
                if problem.code == .certificateRevoked {
                    if let device = record.device, device.device.serial != serial { continue }
                    forgetCertificate(serial)
                }
                guard problem.asksForIdentity, !hasRenewed else { throw .service(problem) }
                hasRenewed = true
                try await renew(session, after: problem)
            }
        } catch {
            return .failure(error)
        }
    }

    private func tokenCall(
        _ audience: String, _ session: Record.SessionSecret, _ signer: DeviceToken
    ) async throws(Refusal) -> Call {
        var call = Call(
            form: [
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": session.token,
                "subject_token_type": "urn:ietf:params:oauth:token-type:access_token", "audience": audience,
            ], to: "/token")
        let proof = try await signer.proof(
            method: "POST", url: service.clientURL.origin + "/token", token: nil, at: now())
        if let name = HTTPField.Name("DPoP") { call.request.headerFields[name] = proof }
        return call
    }
}
