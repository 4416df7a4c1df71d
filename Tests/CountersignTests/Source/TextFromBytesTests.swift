import Fixtures
import Testing

/// Swift compares text by canonical equivalence, which takes quadratic time with long runs of combining marks. So text
/// from outside is checked where bytes become text, and there are few such places.
@Suite("Text from outside")
struct TextFromBytesTests {
    /// Why a file may make text of bytes.
    private enum Reason {
        /// It checks that the text is stream-safe.
        case checked
        /// The bytes are digits, letters or other ASCII by then, or the service made them.
        case plain
        /// A file or a device of the operator.
        case operators
        /// The text is bounded to a few bytes, or is compared by bytes only.
        case short
    }

    private static let places: [String: Reason] = [
        "API/Answers/HTMLPage.swift": .short,
        "API/Channels/ProxyLine.swift": .plain,
        "API/Herald/HeraldHandler.swift": .short,
        "API/Requests/RequestReading.swift": .short,
        "Authority/Attestation/AttestationStatusList.swift": .plain,
        "Authority/Keys/HardwareKey.swift": .operators,
        "Authority/Keys/PKCS11URI.swift": .operators,
        "Cards/AAMVA/AAMVAValues.swift": .checked,
        "Cards/AAMVA/ElementID.swift": .plain,
        "Cards/AAMVA/MagneticStripe.swift": .checked,
        "Cards/AAMVA/ScannerNoise.swift": .short,
        "Cards/Evaluation/IssuerNumberRule.swift": .plain,
        "Cards/Evaluation/ScannedCard.swift": .checked,
        "Cards/MRZ/MachineReadableZone.swift": .plain,
        "Cards/Shared/CardFingerprint.swift": .plain,
        "Cards/Shared/PostalArea.swift": .plain,
        "Console/Serving/RouteTable.swift": .checked,
        "Delivery/AmazonSNS/SNSResponse.swift": .checked,
        "Delivery/AmazonSNS/SignatureVersion4.swift": .plain,
        "Domain/Cards/Presentations/AgeStatement.swift": .plain,
        "Encoding/CBOR/CBORReader.swift": .checked,
        "Encoding/InternetDateTime.swift": .plain,
        "Encoding/JSONOutline.swift": .short,
        "Encoding/JSONText.swift": .plain,
        "Encoding/Keys/PEM.swift": .plain,
        "Encoding/StrictJSON.swift": .checked,
        "Encoding/Web/FormFields.swift": .checked,
        "Encoding/Web/IPAddress.swift": .plain,
        "Encoding/Web/PercentEncoding.swift": .plain,
        "Encoding/Web/WebAddress+Path.swift": .plain,
        "Herald/Thrift/ThriftInterface+JSON.swift": .checked,
        "Herald/Thrift/ThriftReader.swift": .short,
        "Operations/Authorizations/ReadAuthorizations.swift": .short,
        "Operations/Messaging/Lists/MessageStreamFilter.swift": .short,
        "Operations/Migration/TableDigest.swift": .plain,
        "Operations/Providers/ProviderUserHistory.swift": .short,
        "Tokens/Compact/TokenHeader.swift": .checked,
        "Tokens/IdentityTokens/IdentityToken.swift": .plain,
        "Tokens/Keys/AccessTokenKeys.swift": .plain,
        "Tokens/Wallet/StatusList.swift": .short,
    ]

    @Test("is made of bytes only in files that check it, or whose bytes are plain")
    func places() throws {
        var found: Set<String> = []
        for target in [
            "API", "Authority", "Cards", "Console", "Delivery", "Domain", "Encoding", "Herald", "Operations", "Tokens",
        ] {
            for file in try SourceFile.all(of: target)
            where file.text.contains(/\bString\((?:decoding|bytes|data|validating|cString):/) {
                found.insert("\(target)/\(file.path)")
            }
        }
        for path in found.subtracting(Self.places.keys) {
            Issue.record("\(path) makes text of bytes: check isStreamSafe, and say here why it is safe.")
        }
        #expect(found.isSuperset(of: Self.places.keys), "The list names files that no longer make text of bytes.")
    }
}
