import Domain
import Encoding
import Foundation

/// A session's token for the provider of its user: an access token (RFC 9068) that its backend verifies without a call.
///
/// It is bound to the device certificate of the session, or to its key.
package struct SessionAccessToken: Sendable {
    /// The service's issuer (RFC 8414 §2).
    let issuer: String
    let session: Session
    /// The provider's id, or a URL that is registered for its backend (RFC 8707 §2).
    let audience: String
    /// The user's level of assurance (`acr`).
    let assurance: Assurance
    /// What the maker of the session's device attested.
    let attestation: DeviceAttestation.Level
    let confirmation: Confirmation
    /// The facts that a card proved, if the request asked for them.
    let verifiedClaims: VerifiedClaims?
    let identifier: UUID
    let issuedAt: Date
    let expiresAt: Date

    package init(
        issuer: String, session: Session, audience: String, assurance: Assurance,
        attestation: DeviceAttestation.Level = .unattested, confirmation: Confirmation,
        verifiedClaims: VerifiedClaims? = nil, identifier: UUID, issuedAt: Date, expiresAt: Date
    ) {
        self.issuer = issuer
        self.session = session
        self.audience = audience
        self.assurance = assurance
        self.attestation = attestation
        self.confirmation = confirmation
        self.verifiedClaims = verifiedClaims
        self.identifier = identifier
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}

package extension SessionAccessToken {
    /// What the bearer of the token must prove (`cnf`, RFC 7800 §3.1).
    enum Confirmation: Sendable, Equatable {
        /// Possession of the session's device certificate (`x5t#S256`, RFC 8705 §3.1).
        case certificate
        /// Possession of the device's key, by a DPoP proof with each request (`jkt`, RFC 9449 §6.1).
        case key(DPoPProof)
    }

    /// The compact JWS, by the algorithm that the provider's backend verifies.
    func signed(
        with keys: AccessTokenKeys, algorithm: AccessTokenAlgorithm
    ) throws -> Secret<String> {
        try keys.signed(
            .object([
                "iss": .string(issuer), "aud": .string(audience),
                "sub": .string(session.userID.description), "external_id": .string(session.externalID),
                "client_id": .string(session.applicationID.description), "sid": .string(session.id.description),
                "iat": .integer(issuedAt.wholeSeconds), "exp": .integer(expiresAt.wholeSeconds),
                "jti": .string(identifier.uuidString.lowercased()), "acr": .string(assurance.rawValue),
                "device_attestation": .string(attestation.rawValue),
                "auth_time": .integer(session.renewedAt.wholeSeconds),
                "cnf": boundTo, "scope": verifiedClaims.map { _ in .string(Self.verifiedClaimsScope) },
                "verified_claims": verifiedClaims?.json,
            ]), with: algorithm)
    }

    /// Whether a text is an access token that this service signed, of any kind and age.
    static func isSigned(_ text: String, by keys: AccessTokenKeys) -> Bool {
        guard let token = try? UnverifiedToken(text), ProviderAccessToken.isNamed(by: token),
            let key = keys.key(token.header.keyID, algorithm: token.header.algorithm)
        else { return false }
        return key.isValid(signature: token.signature, over: token.signingInput)
    }

    /// The scope that requests ``verifiedClaims``.
    static let verifiedClaimsScope = "verified_claims"

    private var boundTo: JSONValue {
        switch confirmation {
        case .certificate: .object(["x5t#S256": .string(session.thumbprint.base64URL)])
        case .key(let proof): .object(["jkt": .string(proof.thumbprint)])
        }
    }
}

extension Date {
    /// A NumericDate (RFC 7519 §2).
    var wholeSeconds: Int64 { Int64(timeIntervalSince1970) }
}
