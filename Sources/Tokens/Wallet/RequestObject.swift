import Crypto
import Domain
import Encoding
import Foundation

/// A request to a wallet as OpenID4VP 1.0 has it, signed by the service.
package struct RequestObject: Sendable {
    private let query: CredentialQuery
    private let nonce: String
    private let key: ResponseKey
    /// How the answer comes back.
    private let answer: KeyValuePairs<String, JSONValue?>
}

package extension RequestObject {
    /// A request over the Digital Credentials API (Annex A).
    ///
    /// - Parameter key: the key for which the wallet encrypts its answer.
    init(for presentation: Presentation, query: CredentialQuery, key: ResponseKey) {
        self.query = query
        self.key = key
        nonce = presentation.nonceText
        answer = [
            "response_mode": .string("dc_api.jwt"), "expected_origins": .array([.string(presentation.origin)]),
        ]
    }

    /// A request that a wallet on the same device fetches, and answers by a form (§8.2).
    ///
    /// - Parameters:
    ///   - state: the secret by which the wallet names the request.
    ///   - walletNonce: the wallet's own nonce, which proves to it that the request is new (§5.10).
    init(
        for presentation: Presentation, query: CredentialQuery, key: ResponseKey, state: String,
        answeredAt responseURI: String, walletNonce: String?
    ) {
        self.query = query
        self.key = key
        nonce = presentation.nonceText
        answer = [
            "response_mode": .string("direct_post.jwt"), "response_uri": .string(responseURI),
            "state": .string(state), "wallet_nonce": walletNonce.map { .string($0) },
        ]
    }

    /// The compact JWS, ES256. HAIP 1.0 requires the certificate as the name of the sender.
    func signed(by reader: WalletReader) throws -> String {
        let header = JSONValue.object([
            "alg": .string("ES256"), "typ": .string("oauth-authz-req+jwt"),
            "x5c": .array(reader.certificates.map { .string(Data($0).base64EncodedString()) }),
        ])
        let input = [header, payload(of: reader)].map { Base64URL.encode(Array($0.jsonText.utf8)) }
            .joined(separator: ".")
        let signature = try reader.key.signature(for: Data(input.utf8))
        return input + "." + Base64URL.encode(Array(signature.rawRepresentation))
    }

    private func payload(of reader: WalletReader) -> JSONValue {
        let members: KeyValuePairs<String, JSONValue?> = [
            "aud": .string("https://self-issued.me/v2"), "client_id": .string(reader.clientID),
            "response_type": .string("vp_token"), "nonce": .string(nonce), "dcql_query": query.json,
            "client_metadata": metadata,
        ]
        return .object(
            (Array(members) + Array(answer)).compactMap { name, value in
                value.map { JSONMember(name: name, value: $0) }
            })
    }

    /// The link that opens a wallet on the same device (§13.1.2). It contains no more than where the request is.
    static func link(from reader: WalletReader, to requestURI: String) -> String {
        let parameters = [
            ("client_id", reader.clientID), ("request_uri", requestURI), ("request_uri_method", "post"),
        ]
        let text = parameters.map { name, value in
            name + "=" + (value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")
        }
        return "openid4vp://?" + text.joined(separator: "&")
    }

    /// The characters that need no percent encoding (RFC 3986 §2.3).
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// What the service can verify (§11.1), and the key of this request alone.
    private var metadata: JSONValue {
        .object([
            "jwks": .object(["keys": .array([key.webKey])]), "vp_formats_supported": query.supportedFormats,
            "encrypted_response_enc_values_supported": .array(
                ContentEncryption.allCases.map { .string($0.rawValue) }),
        ])
    }
}

package extension ResponseKey {
    /// A key whose id is its thumbprint.
    ///
    /// - Parameter number: the private number in base64url, as ``numberText`` gives it.
    init?(numberText number: String) {
        guard let bytes = Base64URL.decode(number),
            let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: bytes)
        else { return nil }
        self.init(key)
    }

    /// A new key, for one request only.
    static func generate() -> ResponseKey { ResponseKey(P256.KeyAgreement.PrivateKey()) }

    private init(_ key: P256.KeyAgreement.PrivateKey) {
        let unnamed = ResponseKey(id: "", privateKey: key)
        self.init(id: Base64URL.encode(unnamed.thumbprint), privateKey: key)
    }

    /// The private number in base64url. It is only ever stored encrypted.
    var numberText: String { Base64URL.encode(Array(privateKey.rawRepresentation)) }

    /// The public key, uncompressed: 65 bytes.
    var point: [UInt8] { Array(privateKey.publicKey.x963Representation) }

    fileprivate var webKey: JSONValue {
        guard case .object(let members) = PublicKey.Numbers.p256(point: point).webKey else { return .null }
        let others: [JSONMember] = [
            JSONMember(name: "kid", value: .string(id)), JSONMember(name: "use", value: .string("enc")),
            JSONMember(name: "alg", value: .string("ECDH-ES")),
        ]
        return .object(members + others)
    }
}

package extension PresentedCredential {
    /// The holder, as an EU PID names the person (`urn:eudi:pid:1`).
    var identity: PresentedIdentity {
        func text(_ name: String) -> String? { PresentedIdentity.text(self[[name]]?.text) }
        return PresentedIdentity(
            source: .selectiveDisclosure, kind: .identification, familyName: text("family_name"),
            givenName: text("given_name"), dateOfBirth: text("birthdate").flatMap { CalendarDate($0) }, issuedOn: nil,
            expiresOn: text("date_of_expiry").flatMap { CalendarDate($0) }, documentNumber: text("document_number"),
            country: signer.country, jurisdiction: nil)
    }
}
