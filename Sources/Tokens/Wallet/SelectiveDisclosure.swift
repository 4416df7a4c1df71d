import Crypto
import Domain
import Encoding
import Foundation

/// An SD-JWT VC (RFC 9901) with its key binding, as a wallet presents it, parsed but not verified.
package struct SelectiveDisclosure: Sendable, Confidential {
    let token: UnverifiedToken
    /// The certificates of the issuer's signature (`x5c`) in DER, the signer's first. Nothing proves them yet.
    package let certificates: [[UInt8]]
    /// The claims with those that are disclosed, or why they cannot be put together.
    let claims: Result<JSONValue, PresentationDefect>
    /// The paths of the claims that the holder chose to disclose.
    let disclosed: [[String]]
    /// The proof of the holder's device; `nil` if there is none.
    let keyBinding: UnverifiedToken?
    /// The key to which the credential was issued (`cnf`, RFC 7800); `nil` if there is none on P-256.
    let holderKey: VerificationKey?
    /// The digest of everything that the key binding is made for, up to and with the last tilde (§4.3.1).
    let digest: String
}

package extension SelectiveDisclosure {
    /// The longest presentation that is read, bytes.
    static let maximumLength = 65_536

    /// Parses the compact form. The JSON form is not accepted: OpenID4VP has none.
    ///
    /// - Throws: `malformed`.
    init(_ text: String) throws(PresentationDefect) {
        guard text.utf8.count <= Self.maximumLength else {
            throw PresentationDefect(.malformed, "The SD-JWT is longer than \(Self.maximumLength) bytes.")
        }
        let parts = text.split(separator: "~", omittingEmptySubsequences: false)
        guard parts.count >= 2, let first = parts.first, let last = parts.last else {
            throw PresentationDefect(.malformed, "The text is not an SD-JWT: it has no tilde.")
        }
        token = try Self.token(first, "SD-JWT")
        keyBinding = last.isEmpty ? nil : try Self.token(last, "key binding")
        digest = Digest256.of(String(text.dropLast(last.count))).base64URL
        certificates = try token.header.certificates()
        let payload = token.payload
        holderKey = Self.holderKey(in: payload)
        let members = payload.names.compactMap { name in payload[name].map { JSONMember(name: name, value: $0) } }
        do throws(PresentationDefect) {
            var disclosures = try Disclosures(Array(parts.dropFirst().dropLast()))
            claims = .success(.object(try disclosures.claims(of: members)))
            disclosed = disclosures.paths
        } catch {
            claims = .failure(error)
            disclosed = []
        }
    }

    private static func token(_ text: Substring, _ name: String) throws(PresentationDefect) -> UnverifiedToken {
        do throws(TokenDefect) {
            let token = try UnverifiedToken(reading: String(text), upTo: maximumLength)
            if let defect = token.header.unsupportedDefect { throw defect }
            return token
        } catch {
            throw PresentationDefect(.malformed, "The \(name) is not a valid token. \(error.detail)")
        }
    }
}

extension SelectiveDisclosure {
    private static func holderKey(in payload: JSONOutline) -> VerificationKey? {
        guard let jwk = payload["cnf"]?["jwk"], let numbers = try? JSONWebKey.numbers(of: jwk),
            let key = try? PublicKey(numbers)
        else { return nil }
        return try? VerificationKey(key, algorithm: .es256)
    }

    /// The place in a token status list.
    var status: StatusClaim {
        guard let status = token.payload["status"] else { return .none }
        guard let list = status["status_list"], let uri = list["uri"]?.text, case .integer(let number)? = list["idx"],
            number >= 0, let index = Int(exactly: number)
        else { return .unreadable }
        return .list(StatusReference(uri: uri, index: index))
    }

    /// A time of the issuer's payload or the key binding; `nil` if it is missing or not a time.
    static func time(_ name: String, in payload: JSONOutline) -> Date? {
        var reader = ClaimReader(payload)
        return reader.date(name, required: false)
    }

    /// Whether a token is signed by ES256 with a key.
    static func isValid(_ token: UnverifiedToken, by key: VerificationKey) -> Bool {
        key.algorithm == .es256 && token.header.algorithm == SignatureAlgorithm.es256.rawValue
            && key.isValid(signature: token.signature, over: token.signingInput)
    }
}

extension TokenHeader {
    /// The certificates of `x5c` (RFC 7515 §4.1.6) in DER; empty if there are none.
    func certificates() throws(PresentationDefect) -> [[UInt8]] {
        guard let certificateChain else { return [] }
        guard case .array(let elements) = certificateChain else {
            throw PresentationDefect(.malformed, "The header's x5c is not an array.")
        }
        let certificates = elements.compactMap { $0.text.flatMap { Base64URL.decodeEitherAlphabet($0.utf8) } }
        guard certificates.count == elements.count else {
            throw PresentationDefect(.malformed, "The header's x5c is not an array of certificates in base64.")
        }
        return certificates
    }
}
