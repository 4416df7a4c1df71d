import Cards
import Crypto
import Domain
import Encoding
import Foundation

/// Mints mobile documents and presents them, with the faults that its properties make.
package struct DocumentMint: Sendable {
    package static let licence = "org.iso.18013.5.1.mDL"
    package static let nameSpace = "org.iso.18013.5.1"

    package let issuer: WalletIssuer
    package var deviceKey = P256.Signing.PrivateKey()
    package var elements: [(name: String, value: CBORValue)] = [
        ("age_over_18", .bool(true)), ("age_over_21", .bool(false)),
    ]
    /// The type of the document, and that which the issuer signs.
    package var (type, signedType) = (licence, licence)
    package var version = "1.0"
    package var digestAlgorithm = "SHA-256"
    package var (signedAt, validFrom, validUntil): (Date, Date, Date)
    package var status: CBORValue?
    package var certificates: [[UInt8]]

    package init(_ issuer: WalletIssuer) {
        self.issuer = issuer
        certificates = [issuer.certificate]
        (signedAt, validFrom, validUntil) = (issuer.now - 60, issuer.now - 60, issuer.now + 30 * 86_400)
    }

    /// A request for the age by a channel.
    package static func request(
        _ channel: PresentationRequest.Channel = .digitalCredentials(origin: "https://app.example"),
        nonce: String = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA", keyThumbprint: [UInt8] = Array(1...32),
        claims: [String] = ["age_over_18", "age_over_21"]
    ) -> PresentationRequest {
        PresentationRequest(
            channel: channel, nonce: nonce, keyThumbprint: keyThumbprint,
            credentials: [
                RequestedCredential(
                    id: "mdl", format: .mobileDocument, type: licence, claims: claims.map { [nameSpace, $0] })
            ])
    }

    /// The document that a wallet presents for a request.
    package func document(for request: PresentationRequest) throws -> MintedDocument {
        let items = elements.enumerated().map { Self.item(UInt64($0), $1.name, $1.value) }
        let digests = items.enumerated().map { (CBORKey(UInt64($0)), CBORValue.bytes(digest(of: $1)[...])) }
        var security: [CBORKey: CBORValue] = [
            "version": .text(version), "digestAlgorithm": .text(digestAlgorithm), "docType": .text(signedType),
            "valueDigests": .map([CBORKey(Self.nameSpace): .map(Dictionary(digests) { first, _ in first })]),
            "deviceKeyInfo": .map(["deviceKey": try Self.coseKey(deviceKey.publicKey)]),
            "validityInfo": .map([
                "signed": Self.time(signedAt), "validFrom": Self.time(validFrom), "validUntil": Self.time(validUntil),
            ]),
        ]
        security["status"] = status
        let chain: CBORValue =
            certificates.count == 1
            ? .bytes(certificates[0][...]) : .array(certificates.map { .bytes($0[...]) })
        let issuerAuth = try Self.sign(
            CBORValue.embedding(.map(security)).encoded, by: issuer.signerKey,
            unprotected: certificates.isEmpty ? [:] : [33: chain])
        var document = MintedDocument(type: type, items: items, issuerAuth: issuerAuth)
        try document.signDevice(deviceKey, request)
        return document
    }

    /// The answer with one document.
    package func response(to request: PresentationRequest = request()) throws -> [UInt8] {
        MintedDocument.response([try document(for: request)])
    }

    /// An element in the order of keys that issuers write, which is not the deterministic one.
    package static func item(_ digestID: UInt64, _ name: String, _ value: CBORValue) -> CBORValue {
        let random = CBORValue.bytes((0..<32).map { _ in UInt8.random(in: .min ... .max) }[...])
        let members: [(String, CBORValue)] = [
            ("digestID", .unsigned(digestID)), ("random", random), ("elementIdentifier", .text(name)),
            ("elementValue", value),
        ]
        var content: [UInt8] = [0xA4]
        for (name, value) in members { content += CBORValue.text(name).encoded + value.encoded }
        return .tagged(CBORTag(24, .bytes(content[...])))
    }

    private func digest(of item: CBORValue) -> [UInt8] {
        switch digestAlgorithm {
        case "SHA-384": Array(SHA384.hash(data: item.encoded))
        case "SHA-512": Array(SHA512.hash(data: item.encoded))
        default: Array(SHA256.hash(data: item.encoded))
        }
    }

    package static func time(_ date: Date) -> CBORValue { .tagged(CBORTag(0, .text(date.rfc3339))) }

    private static func coseKey(_ key: P256.Signing.PublicKey) throws -> CBORValue {
        let numbers = Array(key.rawRepresentation)
        return .map([
            1: .unsigned(2), -1: .unsigned(1), -2: .bytes(numbers.prefix(32)), -3: .bytes(numbers.suffix(32)),
        ])
    }

    /// A `COSE_Sign1` by ES256.
    ///
    /// - Parameter isDetached: whether the payload is left out.
    package static func sign(
        _ payload: [UInt8], by key: P256.Signing.PrivateKey, unprotected: [CBORKey: CBORValue] = [:],
        protected: [CBORKey: CBORValue] = [1: .negative(6)], isDetached: Bool = false
    ) throws -> CBORValue {
        let header = CBORValue.map(protected).encoded
        let signed = CBORValue.array([.text("Signature1"), .bytes(header[...]), .bytes([]), .bytes(payload[...])])
        let signature = try key.signature(for: signed.encoded).rawRepresentation
        return .array([
            .bytes(header[...]), .map(unprotected), isDetached ? .null : .bytes(payload[...]),
            .bytes(Array(signature)[...]),
        ])
    }
}

/// A document whose parts can be changed after they were signed.
package struct MintedDocument: Sendable {
    package var type: String
    package var items: [CBORValue]
    package var issuerAuth: CBORValue
    package var nameSpace = DocumentMint.nameSpace
    package var deviceNameSpaces = CBORValue.embedding(.map([:]))
    package var deviceAuth = CBORValue.map([:])

    init(type: String, items: [CBORValue], issuerAuth: CBORValue) {
        self.type = type
        self.items = items
        self.issuerAuth = issuerAuth
    }

    /// Signs the presentation, also after a change.
    package mutating func signDevice(
        _ key: P256.Signing.PrivateKey, _ request: PresentationRequest, isDetached: Bool = true
    ) throws {
        guard case .tagged(let nameSpaces) = deviceNameSpaces else { return }
        let signed = SessionTranscript(request).deviceAuthentication(type: type, nameSpaces: nameSpaces)
        deviceAuth = .map(["deviceSignature": try DocumentMint.sign(signed, by: key, isDetached: isDetached)])
    }

    package var value: CBORValue {
        .map([
            "docType": .text(type),
            "issuerSigned": .map([
                "nameSpaces": .map([CBORKey(nameSpace): .array(items)]), "issuerAuth": issuerAuth,
            ]),
            "deviceSigned": .map(["nameSpaces": deviceNameSpaces, "deviceAuth": deviceAuth]),
        ])
    }

    package static func response(_ documents: [MintedDocument], status: UInt64 = 0) -> [UInt8] {
        CBORValue.map([
            "version": .text("1.0"), "documents": .array(documents.map(\.value)), "status": .unsigned(status),
        ]).encoded
    }
}
