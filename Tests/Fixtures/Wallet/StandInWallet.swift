import Authority
import Cards
import Crypto
import Domain
import Encoding
import Foundation
import Operations
import Synchronization
import Tokens

/// A user's wallet and the issuer of its credentials, whom the service of the fixture trusts.
package struct StandInWallet: Sendable {
    package static let origin = "https://app.example"
    /// Where it returns to the app.
    package static let returnAddress = "https://app.example/wallet"

    package let issuer: WalletIssuer
    /// An issuer that only the list of issuers names, and that list.
    package let listed: WalletIssuer
    package let list: TrustListMint
    private let listRoots: TrustList.Roots
    private let trust: IssuerTrust
    private let reader: WalletReader
    private let lists = Lists()

    /// The status lists that can be fetched, by their URIs.
    private final class Lists: Sendable {
        let bytes = Mutex<[String: [UInt8]]>([:])
    }

    package init() throws {
        issuer = try WalletIssuer()
        trust = IssuerTrust([try IssuerTrust.Anchor(issuer.root, types: nil)])
        listed = try WalletIssuer()
        list = try TrustListMint([listed], now: listed.now)
        listRoots = try TrustList.Roots([list.root])
        let scheme = try WalletIssuer()
        reader = WalletReader(key: scheme.signerKey, certificates: [scheme.certificate])
    }

    /// What SIGHUP reads again.
    package var files: (trust: IssuerTrust, reader: WalletReader) { (trust, reader) }

    /// What the service verifies this wallet by.
    package func verification(now: @escaping @Sendable () -> Date) -> Wallet {
        Wallet(
            trust: trust, reader: reader, listRoots: listRoots, now: now,
            fetch: { [lists] uri, _ in lists.bytes.withLock { $0[uri] } })
    }

    /// The same with another name of the service in requests, and an issuer whose key has an identifier.
    package func verification(dnsName: String, keyIdentifier: [UInt8], now: @escaping @Sendable () -> Date) throws
        -> Wallet
    {
        let anchor = try IssuerTrust.Anchor(issuer.root(named: keyIdentifier), types: nil)
        return Wallet(
            trust: IssuerTrust([anchor]),
            reader: WalletReader(key: reader.key, certificates: reader.certificates, dnsName: dnsName), now: now,
            fetch: { [lists] uri, _ in lists.bytes.withLock { $0[uri] } })
    }

    /// Publishes a status list.
    package func publish(_ list: StatusListMint) throws {
        let bytes = try list.token()
        lists.bytes.withLock { $0[list.uri] = bytes }
    }

    /// The claims of a mobile driving licence.
    package static let licence: [(name: String, value: CBORValue)] = [
        ("family_name", .text("SAMPLE")), ("given_name", .text("ALICE")), ("birth_date", day("1990-01-31")),
        ("issue_date", day("2024-01-31")), ("expiry_date", day("2032-01-31")), ("issuing_country", .text("US")),
        ("document_number", .text("T64235789")),
    ]

    package static func day(_ text: String) -> CBORValue { .tagged(CBORTag(1004, .text(text))) }
}

/// A request that the wallet got, as the app hands it over.
package struct ReceivedRequest: Sendable {
    package let walletProtocol: Presentation.WalletProtocol
    package let data: JSONValue
    /// The `state` in the answer of OpenID4VP; `nil` for that of the request, `null` for none.
    package var returnedState: JSONValue?

    package init(_ walletProtocol: Presentation.WalletProtocol, _ data: JSONValue) {
        self.walletProtocol = walletProtocol
        self.data = data
    }

    package init(_ opened: OpenedPresentation, by walletProtocol: Presentation.WalletProtocol) {
        switch walletProtocol {
        case .openID4VP: self.init(walletProtocol, .object(["request": .string(opened.requestObject)]))
        case .isoDocument:
            self.init(
                walletProtocol,
                .object([
                    "deviceRequest": .string(opened.isoDocument?.deviceRequest ?? ""),
                    "encryptionInfo": .string(opened.isoDocument?.encryptionInfo ?? ""),
                ]))
        }
    }

    private struct Unreadable: Error {}

    /// The payload of a signed request, whose signature nobody looks at here.
    package func payload() throws -> JSONValue {
        let parts = (data["request"]?.text ?? "").split(separator: ".").map(String.init)
        guard parts.count == 3, let bytes = Base64URL.decode(parts[1]) else { throw Unreadable() }
        return try StrictJSON.parse(bytes)
    }

    /// The key for which the answer is encrypted, with its id.
    private func key() throws -> (P256.KeyAgreement.PublicKey, id: String) {
        let numbers: [UInt8]
        var id = ""
        switch walletProtocol {
        case .openID4VP:
            guard case .array(let keys)? = try payload()["client_metadata"]?["jwks"]?["keys"], let key = keys.first,
                let x = key["x"]?.text.flatMap({ Base64URL.decode($0) }),
                let y = key["y"]?.text.flatMap({ Base64URL.decode($0) })
            else { throw Unreadable() }
            (numbers, id) = (x + y, key["kid"]?.text ?? "")
        case .isoDocument:
            let info = try CBORReader.read((Base64URL.decode(data["encryptionInfo"]?.text ?? "") ?? [])[...])
            guard let key = info.elements?.last?["recipientPublicKey"], let x = key[-2]?.bytes, let y = key[-3]?.bytes
            else { throw Unreadable() }
            numbers = Array(x) + Array(y)
        }
        return (try P256.KeyAgreement.PublicKey(x963Representation: [4] + numbers), id)
    }

    /// The request as the wallet's signatures are bound to it.
    package func request(origin: String = StandInWallet.origin) throws -> PresentationRequest {
        let (key, _) = try key()
        let numbers = PublicKey.Numbers.p256(point: Array(key.x963Representation))
        let channel: PresentationRequest.Channel
        var nonce = ""
        switch walletProtocol {
        case .openID4VP:
            let payload = try payload()
            nonce = payload["nonce"]?.text ?? ""
            if let responseURI = payload["response_uri"]?.text {
                channel = .redirect(clientID: payload["client_id"]?.text ?? "", responseURI: responseURI)
            } else {
                channel = .digitalCredentials(origin: origin)
            }
        case .isoDocument:
            channel = .annexC(origin: origin, encryptionInfo: data["encryptionInfo"]?.text ?? "")
        }
        return PresentationRequest(
            channel: channel, nonce: nonce, keyThumbprint: Digest256.of(numbers.webKey.jsonText).bytes,
            credentials: [])
    }

    /// The answer with one document, encrypted as the protocol has it.
    package func answer(
        presenting response: [UInt8], as id: String = "mdl", kid: String? = nil
    ) throws -> WalletAnswer {
        switch walletProtocol {
        case .openID4VP: return try answer(token: Base64URL.encode(response), as: id, kid: kid)
        case .isoDocument:
            let (key, _) = try key()
            var sender = try HPKE.Sender(
                recipientKey: key, ciphersuite: .init(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_128),
                info: Data(SessionTranscript(try request()).bytes))
            let content = Array(try sender.seal(Data(response)))
            let members: [CBORKey: CBORValue] = [
                "enc": .bytes(Array(sender.encapsulatedKey)[...]), "cipherText": .bytes(content[...]),
            ]
            return WalletAnswer(
                walletProtocol,
                response: Base64URL.encode(CBORValue.array([.text("dcapi"), .map(members)]).encoded))
        }
    }

    /// The text of the answer with one document: a compact JWE, or base64url.
    package func answerText(presenting response: [UInt8]) throws -> String {
        try answer(presenting: response).response
    }

    /// The answer of OpenID4VP with one presentation under an id of the query.
    package func answer(token: String, as id: String, kid: String? = nil) throws -> WalletAnswer {
        try answer(tokens: [id: token], kid: kid)
    }

    /// The answer of OpenID4VP with presentations under ids of the query.
    package func answer(tokens: KeyValuePairs<String, String>, kid: String? = nil) throws -> WalletAnswer {
        let presentations = tokens.map { JSONMember($0.key, .array([.string($0.value)])) }
        let state = try returnedState ?? payload()["state"]
        return try answer(
            content: .object(["vp_token": .object(presentations), "state": state == .null ? nil : state]), kid: kid)
    }

    /// The answer of OpenID4VP with any content, encrypted by ECDH-ES with A128GCM.
    package func answer(content: JSONValue, kid: String? = nil) throws -> WalletAnswer {
        let (recipient, keyID) = try key()
        let ephemeral = P256.KeyAgreement.PrivateKey()
        let header = JSONValue.object([
            "alg": .string("ECDH-ES"), "enc": .string("A128GCM"), "kid": .string(kid ?? keyID),
            "epk": CredentialMint.webKey(
                try P256.Signing.PublicKey(rawRepresentation: ephemeral.publicKey.rawRepresentation)),
        ])
        let protected = Base64URL.encode(header.jsonBytes)
        let secret = try ephemeral.sharedSecretFromKeyAgreement(with: recipient)
        func number(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        var derivation = SHA256()
        derivation.update(data: number(1))
        secret.withUnsafeBytes { derivation.update(bufferPointer: $0) }
        // AlgorithmID, no names of the parties, and the length of the key in bits (RFC 7518 §4.6.2).
        derivation.update(data: number(7) + Array("A128GCM".utf8) + number(0) + number(0) + number(128))
        let key = SymmetricKey(data: Array(derivation.finalize()).prefix(16))
        let box = try AES.GCM.seal(content.jsonBytes, using: key, authenticating: Array(protected.utf8))
        let parts = [Array(box.nonce), Array(box.ciphertext), Array(box.tag)].map { Base64URL.encode($0) }
        return WalletAnswer(
            walletProtocol, response: ([protected, ""] + parts).joined(separator: "."))
    }
}
