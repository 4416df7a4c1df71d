import Crypto
import Domain
import Encoding
import Foundation

/// The key for which a wallet encrypts its answer to one request.
package struct ResponseKey: Sendable {
    /// Its `kid` in the request.
    let id: String
    let privateKey: P256.KeyAgreement.PrivateKey

    package init(id: String, privateKey: P256.KeyAgreement.PrivateKey) {
        self.id = id
        self.privateKey = privateKey
    }
}

package extension ResponseKey {
    /// The RFC 7638 thumbprint of the public key, which transcripts contain, 32 bytes.
    var thumbprint: [UInt8] {
        let key = PublicKey.Numbers.p256(point: Array(privateKey.publicKey.x963Representation))
        return Digest256.of(key.webKey.jsonText).bytes
    }
}

/// An answer encrypted as a compact JWE (RFC 7516) by ECDH-ES, as OpenID4VP's modes `dc_api.jwt` and `direct_post.jwt`
/// have it.
package enum EncryptedResponse {
    /// The longest answer that is read, bytes. Its content is base64url of at most 64 KiB.
    static let maximumLength = 131_072

    /// Header parameters that change what the bytes mean.
    private static let neverAccepted = ["crit", "zip", "b64"]

    /// Decrypts an answer.
    ///
    /// - Throws: `malformed`, `wrong_key` or `undecryptable`.
    package static func open(_ text: String, with key: ResponseKey) throws(PresentationDefect) -> [UInt8] {
        guard text.utf8.count <= maximumLength else {
            throw PresentationDefect(.malformed, "The answer is longer than \(maximumLength) bytes.")
        }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 5, let headerBytes = Base64URL.decode(parts[0]),
            let header = try? JSONOutline(headerBytes), let nonce = Base64URL.decode(parts[2]),
            let content = Base64URL.decode(parts[3]), let tag = Base64URL.decode(parts[4])
        else { throw PresentationDefect(.malformed, "The answer is not a JWE of five parts in base64url.") }
        let encryption = try self.encryption(header, for: key)
        guard parts[1].isEmpty else {
            throw PresentationDefect(.malformed, "The answer has an encrypted key. ECDH-ES has none.")
        }
        let symmetric = try self.key(header, for: encryption, with: key)
        guard nonce.count == 12, tag.count == 16,
            let box = try? AES.GCM.SealedBox(nonce: AES.GCM.Nonce(data: nonce), ciphertext: content, tag: tag),
            let opened = try? AES.GCM.open(box, using: symmetric, authenticating: Array(parts[0]))
        else { throw PresentationDefect(.undecryptable, "The answer cannot be decrypted with the key of the request.") }
        return Array(opened)
    }

    /// Reads what must be known before anything is computed.
    private static func encryption(
        _ header: JSONOutline, for key: ResponseKey
    ) throws(PresentationDefect) -> ContentEncryption {
        if let name = header.names.first(where: neverAccepted.contains) {
            throw PresentationDefect(.malformed, "The header of the answer has \(name), which is not supported.")
        }
        guard header["alg"]?.text == "ECDH-ES" else {
            throw PresentationDefect(.malformed, "The alg of the answer is not ECDH-ES.")
        }
        guard let encryption = header["enc"]?.text.flatMap(ContentEncryption.init) else {
            let names = ContentEncryption.allCases.map(\.rawValue).joined(separator: " or ")
            throw PresentationDefect(.malformed, "The enc of the answer is not \(names).")
        }
        guard let id = header["kid"]?.text, id.hasSameBytes(as: key.id) else {
            throw PresentationDefect(.wrongKey, "The kid of the answer is not that of the request's key.")
        }
        return encryption
    }

    private static func key(
        _ header: JSONOutline, for encryption: ContentEncryption, with key: ResponseKey
    ) throws(PresentationDefect) -> SymmetricKey {
        guard let jwk = header["epk"], case .p256(let point)? = try? JSONWebKey.numbers(of: jwk),
            let ephemeral = try? P256.KeyAgreement.PublicKey(x963Representation: point),
            let secret = try? key.privateKey.sharedSecretFromKeyAgreement(with: ephemeral)
        else { throw PresentationDefect(.malformed, "The epk of the answer is not a public key on P-256.") }
        return ConcatKDF.key(
            from: secret, for: encryption, apu: try party("apu", in: header), apv: try party("apv", in: header))
    }

    /// Wallets may name the parties. If they do, the names are part of the key.
    private static func party(_ name: String, in header: JSONOutline) throws(PresentationDefect) -> [UInt8] {
        guard let value = header[name] else { return [] }
        guard let bytes = value.text.flatMap({ Base64URL.decode($0) }) else {
            throw PresentationDefect(.malformed, "The \(name) of the answer is not base64url.")
        }
        return bytes
    }
}

/// An answer encrypted by HPKE, as `org-iso-mdoc` has it (ISO/IEC 18013-7 Annex C).
package enum AnnexCResponse {
    private static let suite = HPKE.Ciphersuite(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_128)

    /// Decrypts an answer; gives the bytes of a `DeviceResponse`.
    ///
    /// - Parameters:
    ///   - text: the answer in base64url.
    ///   - transcript: the bytes of the session's transcript, to which the encryption is bound.
    /// - Throws: `malformed` or `undecryptable`.
    package static func open(
        _ text: String, with key: ResponseKey, transcript: [UInt8]
    ) throws(PresentationDefect) -> [UInt8] {
        guard text.utf8.count <= EncryptedResponse.maximumLength, let bytes = Base64URL.decode(text),
            let answer = (try? CBORReader.read(bytes[...], upTo: EncryptedResponse.maximumLength))?.elements,
            answer.count == 2, answer[0].text == "dcapi", let encapsulated = answer[1]["enc"]?.bytes,
            encapsulated.count == 65, let content = answer[1]["cipherText"]?.bytes
        else {
            throw PresentationDefect(
                .malformed, "The answer is not base64url of CBOR: dcapi, and a map of enc and cipherText.")
        }
        do {
            var recipient = try HPKE.Recipient(
                privateKey: key.privateKey, ciphersuite: suite, info: Data(transcript),
                encapsulatedKey: Data(encapsulated))
            return Array(try recipient.open(Data(content)))
        } catch {
            throw PresentationDefect(
                .undecryptable, "The answer cannot be decrypted for this request: compare origin, nonce and key.")
        }
    }
}
