import Cards
import Crypto
import Domain
import Encoding
import Foundation

/// The answer of an invented wallet to one request by `org-iso-mdoc`: a new mobile driving licence, with the elements that
/// the request asks for.
struct SampleLicence {
    private let data: JSONValue
    private let origin: String
    private let issuer: SampleIssuer
    private let card: SpecimenCard
    private let now: Date

    private static let defect = CommandFailure(
        "The file is not the answer of POST /identity-cards/presentations with a request for org-iso-mdoc.")

    /// - Parameter opened: the answer of `POST /identity-cards/presentations`.
    /// - Throws: ``CommandFailure`` if it has no request for `org-iso-mdoc`.
    init(
        answering opened: JSONValue, from origin: String, issuer: SampleIssuer, card: SpecimenCard, now: Date
    ) throws(CommandFailure) {
        guard case .array(let requests)? = opened["requests"],
            let request = requests.first(where: {
                $0["protocol"]?.text == Presentation.WalletProtocol.isoDocument.rawValue
            }), let data = request["data"]
        else { throw Self.defect }
        self.data = data
        self.origin = origin
        self.issuer = issuer
        self.card = card
        self.now = now
    }

    /// The body for `POST /identity-cards/presentations/{id}`, with the encrypted answer.
    func answer() throws -> JSONValue {
        guard let info = data["encryptionInfo"]?.text, let infoBytes = Base64URL.decode(info),
            let key = try CBORReader.read(infoBytes[...]).elements?.last?["recipientPublicKey"],
            case .p256(let point) = try PublicKey(coseKey: key).numbers
        else { throw Self.defect }
        let transcript = SessionTranscript(
            PresentationRequest(
                channel: .annexC(origin: origin, encryptionInfo: info), nonce: "", keyThumbprint: [], credentials: []))
        var sender = try HPKE.Sender(
            recipientKey: try P256.KeyAgreement.PublicKey(x963Representation: point),
            ciphersuite: .init(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_128),
            info: Data(transcript.bytes))
        let content = Array(try sender.seal(Data(try response(in: transcript))))
        let members: [CBORKey: CBORValue] = [
            "enc": .bytes(Array(sender.encapsulatedKey)[...]), "cipherText": .bytes(content[...]),
        ]
        let encrypted = CBORValue.array([.text("dcapi"), .map(members)]).encoded
        return .object([
            "protocol": .string(Presentation.WalletProtocol.isoDocument.rawValue),
            "data": .object(["response": .string(Base64URL.encode(encrypted))]),
        ])
    }

    /// The document type, the name space and the elements that the request names.
    private func requested() throws -> (type: String, space: String, elements: [String]) {
        guard let bytes = data["deviceRequest"]?.text.flatMap({ Base64URL.decode($0) }),
            let items = try CBORReader.read(bytes[...])["docRequests"]?.elements?.first?["itemsRequest"]?.embedded,
            let type = items["docType"]?.text, case .map(let spaces)? = items["nameSpaces"],
            let (space, elements) = spaces.first, let name = space.text, case .map(let names) = elements
        else { throw Self.defect }
        return (type, name, names.keys.compactMap(\.text).sorted())
    }

    private func value(of element: String) -> CBORValue? {
        func day(_ day: CalendarDate) -> CBORValue { .tagged(CBORTag(1004, .text(day.text))) }
        switch element {
        case "family_name": return .text(card.name.family)
        case "given_name": return .text([card.name.given, card.name.middle].compactMap(\.self).joined(separator: " "))
        case "birth_date": return day(card.birth)
        case "issue_date": return day(card.issue)
        case "expiry_date": return day(card.expiry)
        case "issuing_country": return .text("US")
        case "document_number": return .text(card.number)
        default:
            return AgeStatement.age(of: element).map { .bool(card.birth.age(on: CalendarDate(utcDayOf: now)) >= $0) }
        }
    }

    /// A `DeviceResponse` (ISO/IEC 18013-5 §8.3.2.1.2.2), signed by the issuer and by the device.
    private func response(in transcript: SessionTranscript) throws -> [UInt8] {
        let (type, space, elements) = try requested()
        let device = P256.Signing.PrivateKey()
        let items = elements.compactMap { name in value(of: name).map { (name, $0) } }.enumerated().map {
            number, item in
            CBORValue.embedding(
                .map([
                    "digestID": .unsigned(UInt64(number)), "random": .bytes(Self.random()[...]),
                    "elementIdentifier": .text(item.0), "elementValue": item.1,
                ]))
        }
        let digests = items.enumerated().map { number, item in
            (CBORKey(UInt64(number)), CBORValue.bytes(Array(SHA256.hash(data: item.encoded))[...]))
        }
        func time(_ date: Date) -> CBORValue { .tagged(CBORTag(0, .text(date.rfc3339))) }
        let deviceKey = try PublicKey(subjectPublicKeyInfo: Array(device.publicKey.derRepresentation)).coseKey ?? .null
        let security = CBORValue.map([
            "version": .text("1.0"), "digestAlgorithm": .text("SHA-256"), "docType": .text(type),
            "valueDigests": .map([CBORKey(space): .map(Dictionary(digests) { first, _ in first })]),
            "deviceKeyInfo": .map(["deviceKey": deviceKey]),
            "validityInfo": .map([
                "signed": time(now - 60), "validFrom": time(now - 60), "validUntil": time(now + 30 * 86_400),
            ]),
        ])
        let issuerAuth = try Self.sign(
            CBORValue.embedding(security).encoded, by: issuer.key,
            unprotected: [33: .bytes(issuer.certificate[...])], isDetached: false)
        let none = CBORValue.embedding(.map([:]))
        guard case .tagged(let nameSpaces) = none else { throw Self.defect }
        let signature = try Self.sign(
            transcript.deviceAuthentication(type: type, nameSpaces: nameSpaces), by: device, unprotected: [:],
            isDetached: true)
        let document = CBORValue.map([
            "docType": .text(type),
            "issuerSigned": .map(["nameSpaces": .map([CBORKey(space): .array(items)]), "issuerAuth": issuerAuth]),
            "deviceSigned": .map(["nameSpaces": none, "deviceAuth": .map(["deviceSignature": signature])]),
        ])
        return CBORValue.map([
            "version": .text("1.0"), "documents": .array([document]), "status": .unsigned(0),
        ]).encoded
    }

    private static func random() -> [UInt8] {
        SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
    }

    /// A `COSE_Sign1` by ES256 (RFC 9052 §4.2).
    private static func sign(
        _ payload: [UInt8], by key: P256.Signing.PrivateKey, unprotected: [CBORKey: CBORValue], isDetached: Bool
    ) throws -> CBORValue {
        let header = CBORValue.map([1: .negative(6)]).encoded
        let signed = CBORValue.array([.text("Signature1"), .bytes(header[...]), .bytes([]), .bytes(payload[...])])
        let signature = Array(try key.signature(for: signed.encoded).rawRepresentation)
        return .array([
            .bytes(header[...]), .map(unprotected), isDetached ? .null : .bytes(payload[...]), .bytes(signature[...]),
        ])
    }
}
