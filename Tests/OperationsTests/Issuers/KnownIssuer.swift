import Domain
import Encoding
import Fixtures
import Foundation
import Tokens

/// A well-known OpenID provider: what its ID tokens are like, by its documentation, of an invented person.
struct KnownIssuer: Sendable {
    let name: String
    let url: String
    /// The page that describes its ID tokens, or its own source, without `https://`.
    let source: String
    let audience: String
    var otherAudiences: [String] = []
    var algorithm = SignatureAlgorithm.rs256
    /// The `kid` of its key; empty for a key without one.
    var kid = "2024-1"
    /// What its header has beside `alg` and `kid`, a JSON object.
    var header = #"{"typ":"JWT"}"#
    /// What its payload has beside `iss`, `aud`, `nonce`, `iat` and `exp`, a JSON object. A member of such a name replaces
    /// that claim.
    let claims: String
    /// Seconds from `iat` to `exp`.
    var lifetime: Int64 = 3600
    /// Names of claims that the session comes without.
    var ignored: [String] = []
    let planted: Planted

    /// An error in a token of the issuer, and how it is reported.
    struct Planted: Sendable {
        let reason: Refusal.Reason
        /// What the report of the defect says.
        let sentence: String
        let edit: @Sendable (inout TokenDraft) -> Void

        init(_ reason: Refusal.Reason, _ sentence: String, _ edit: @escaping @Sendable (inout TokenDraft) -> Void) {
            (self.reason, self.sentence, self.edit) = (reason, sentence, edit)
        }
    }

    /// Its token around a nonce, before it is signed.
    func draft(nonce: String, now: Date) throws -> TokenDraft {
        guard case .object(let parameters) = try StrictJSON.parse(header.utf8),
            case .object(let members) = try StrictJSON.parse(claims.utf8)
        else { throw Refusal(.malformedRequest, "The issuer's row is not JSON.") }
        var draft = TokenDraft(header: [JSONMember(name: "alg", value: .string(algorithm.rawValue))])
        if !kid.isEmpty { draft[header: "kid"] = .string(kid) }
        for parameter in parameters { draft[header: parameter.name] = parameter.value }
        draft[claim: "iss"] = .string(url)
        draft[claim: "aud"] = .string(audience)
        draft[claim: "nonce"] = .string(nonce)
        draft.lives(from: now, for: lifetime)
        for member in members { draft[claim: member.name] = member.value }
        return draft
    }

    static func texts(_ texts: String...) -> JSONValue { .array(texts.map { .string($0) }) }

    static let all = consumers + workforce + selfHosted
}
