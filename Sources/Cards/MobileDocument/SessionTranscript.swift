import Crypto
import Domain
import Encoding

/// The session in which a mobile document is presented (ISO/IEC 18013-5 §9.1.5.1). The device signs it, so an answer to
/// one request is never the answer to another.
package struct SessionTranscript: Sendable, Equatable {
    let value: CBORValue
}

package extension SessionTranscript {
    /// The transcript of a request.
    init(_ request: PresentationRequest) {
        let nonce = CBORValue.text(request.nonce)
        let key = CBORValue.bytes(request.keyThumbprint[...])
        switch request.channel {
        case .digitalCredentials(let origin):
            // OpenID4VP 1.0 §B.2.6.2.
            self.init("OpenID4VPDCAPIHandover", [.text(origin), nonce, key])
        case .redirect(let clientID, let responseURI):
            // OpenID4VP 1.0 §B.2.6.1.
            self.init("OpenID4VPHandover", [.text(clientID), nonce, key, .text(responseURI)])
        case .annexC(let origin, let encryptionInfo):
            // ISO/IEC 18013-7 Annex C: the text as sent, which contains the nonce and the key.
            self.init("dcapi", [.text(encryptionInfo), .text(origin)])
        }
    }

    private init(_ name: String, _ info: [CBORValue]) {
        let digest = SHA256.hash(data: CBORValue.array(info).encoded)
        value = .array([.null, .null, .array([.text(name), .bytes(Array(digest)[...])])])
    }

    /// Its encoding, which is also the `info` of Annex C's encryption.
    var bytes: [UInt8] { value.encoded }

    /// The bytes that the device signs (`DeviceAuthenticationBytes`, ISO/IEC 18013-5 §9.1.3.4).
    ///
    /// - Parameter nameSpaces: the device's own elements, with tag 24, as received.
    func deviceAuthentication(type: String, nameSpaces: CBORTag) -> [UInt8] {
        CBORValue.embedding(
            .array([.text("DeviceAuthentication"), value, .text(type), .tagged(nameSpaces)])
        ).encoded
    }
}
