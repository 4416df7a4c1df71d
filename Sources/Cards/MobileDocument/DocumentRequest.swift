import Crypto
import Domain
import Encoding

/// A request to a wallet as `org-iso-mdoc` has it (ISO/IEC 18013-7 Annex C), signed by the service.
package struct DocumentRequest: Sendable {
    private let credential: RequestedCredential
    private let transcript: SessionTranscript
    /// The nonce and the key for the answer, in base64url. The session's transcript contains this text.
    package let encryptionInfo: String
}

package extension DocumentRequest {
    /// - Parameter point: the key for which the wallet encrypts its answer, uncompressed.
    /// - Throws: `PublicKeyDefect` for a point that is not on P-256.
    init(
        for presentation: Presentation, credential: RequestedCredential, point: [UInt8]
    ) throws(PublicKeyDefect) {
        self.credential = credential
        encryptionInfo = try Self.encryptionInfo(of: presentation, point: point)
        transcript = SessionTranscript(
            PresentationRequest(
                channel: .annexC(origin: presentation.origin, encryptionInfo: encryptionInfo),
                nonce: presentation.nonceText, keyThumbprint: [], credentials: [credential]))
    }

    /// The nonce and the key in base64url. Equal arguments give equal texts.
    static func encryptionInfo(of presentation: Presentation, point: [UInt8]) throws(PublicKeyDefect) -> String {
        let key = try PublicKey(.p256(point: point)).coseKey ?? .null
        let members: [CBORKey: CBORValue] = [
            "nonce": .bytes(presentation.nonce[...]), "recipientPublicKey": key,
        ]
        return Base64URL.encode(CBORValue.array([.text("dcapi"), .map(members)]).encoded)
    }

    /// The signed `DeviceRequest`, in base64url.
    func signed(by reader: WalletReader) throws -> String {
        let items = CBORValue.embedding(
            .map(["docType": .text(credential.type), "nameSpaces": .map(nameSpaces)]))
        let request = CBORValue.map([
            "version": .text("1.0"),
            "docRequests": .array([
                .map(["itemsRequest": items, "readerAuth": try authentication(of: items, by: reader)])
            ]),
        ])
        return Base64URL.encode(request.encoded)
    }

    private var nameSpaces: [CBORKey: CBORValue] {
        var spaces: [CBORKey: CBORValue] = [:]
        for path in credential.claims {
            guard let space = path.first, let element = path.last else { continue }
            var elements: [CBORKey: CBORValue] = [:]
            if case .map(let present)? = spaces[CBORKey(space)] { elements = present }
            elements[CBORKey(element)] = .bool(WalletQuery.isRetained(path))
            spaces[CBORKey(space)] = .map(elements)
        }
        return spaces
    }

    /// The service's signature over the items in this session (ISO/IEC 18013-5 §9.1.4).
    private func authentication(of items: CBORValue, by reader: WalletReader) throws -> CBORValue {
        let signed = CBORValue.embedding(
            .array([.text("ReaderAuthentication"), transcript.value, items])
        ).encoded
        let protected = CBORValue.map([1: .negative(6)]).encoded
        let content = CBORValue.array([.text("Signature1"), .bytes(protected[...]), .bytes([]), .bytes(signed[...])])
        let signature = Array(try reader.key.signature(for: content.encoded).rawRepresentation)
        let chain = reader.certificates.map { CBORValue.bytes($0[...]) }
        return .array([
            .bytes(protected[...]), .map([33: chain.count == 1 ? chain[0] : .array(chain)]), .null,
            .bytes(signature[...]),
        ])
    }
}
