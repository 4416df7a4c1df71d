import Encoding
import Fixtures
import Testing

@testable import Cards
@testable import Domain

/// The bytes that OpenID4VP 1.0 §B.2.6 prints for its examples, and those of Annex C as `cbor2` writes them.
@Suite("The transcript of a session")
struct SessionTranscriptTests {
    private static let nonce = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA"
    private static let thumbprint = bytes("4283ec927ae0f208daaa2d026a814f2b22dca52cf85ffa8f3f8626c6bd669047")

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func transcript(_ channel: PresentationRequest.Channel) -> SessionTranscript {
        SessionTranscript(
            PresentationRequest(channel: channel, nonce: nonce, keyThumbprint: thumbprint, credentials: []))
    }

    @Test("has the standard's bytes for each channel")
    func vectors() {
        let api = Self.transcript(.digitalCredentials(origin: "https://example.com"))
        #expect(
            api.bytes
                == Self.bytes(
                    """
                    83f6f682764f70656e4944345650444341504948616e646f7665725820fbece366f4212f9762c74cfdbf83b8c69e371d5d68cea09\
                    cb4c48ca6daab761a
                    """))
        let redirect = Self.transcript(
            .redirect(clientID: "x509_san_dns:example.com", responseURI: "https://example.com/response"))
        #expect(
            redirect.bytes
                == Self.bytes(
                    """
                    83f6f682714f70656e494434565048616e646f7665725820048bc053c00442af9b8eed494cefdd9d95240d254b046b11b68013722\
                    aad38ac
                    """))
        let info = "gmVkY2FwaaFlbm9uY2VYIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"
        #expect(
            Self.transcript(.annexC(origin: "https://example.com", encryptionInfo: info)).bytes
                == Self.bytes(
                    "83f6f6826564636170695820760fd545aec63f7b3c329f5822433381265cd6d40c7c3bb6a4236c70b5954506"))
    }

    @Test("is signed by the device in a byte string of its own, with the name spaces as received")
    func deviceAuthentication() throws {
        let transcript = Self.transcript(.digitalCredentials(origin: "https://example.com"))
        guard case .tagged(let nameSpaces) = CBORValue.embedding(.map([:])) else { return }
        #expect(
            transcript.deviceAuthentication(type: "org.iso.18013.5.1.mDL", nameSpaces: nameSpaces)
                == Self.bytes(
                    """
                    d818586d847444657669636541757468656e7469636174696f6e83f6f682764f70656e4944345650444341504948616e646f76657\
                    25820fbece366f4212f9762c74cfdbf83b8c69e371d5d68cea09cb4c48ca6daab761a756f72672e69736f2e31383031332e352e31\
                    2e6d444cd81841a0
                    """))
    }
}
