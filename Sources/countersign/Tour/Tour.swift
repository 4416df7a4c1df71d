import AsyncHTTPClient
import Crypto
import Domain
import Encoding
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import Operations
import SwiftASN1
import X509

/// The tour's state and its steps.
struct Tour {
    let publicURL: String
    let clientURL: String
    let provider: String
    let authority: String
    /// The file with the texts that the service sends.
    let texts: String
    /// The operator's challenge of a session, as on the command line.
    let challenge: @Sendable (SessionID) async throws -> Void
    let ban: @Sendable (UserID) async throws -> Void
    let lift: @Sendable (UserID) async throws -> Void
    /// The device's own address for connections; `nil` for the machine's.
    private let address: String?
    private let key = P256.Signing.PrivateKey()
    private let password = Base64URL.encode((0..<16).map { _ in UInt8.random(in: 0...255) })
    private let name = "tour-" + UUID().uuidString.prefix(8).lowercased()
    /// The number of shown steps.
    var count = 0

    init(
        publicURL: String, clientURL: String, provider: String, authority: String, texts: String,
        challenge: @escaping @Sendable (SessionID) async throws -> Void,
        ban: @escaping @Sendable (UserID) async throws -> Void, lift: @escaping @Sendable (UserID) async throws -> Void
    ) {
        self.publicURL = publicURL
        self.clientURL = clientURL
        self.provider = provider
        self.authority = authority
        self.texts = texts
        self.challenge = challenge
        self.ban = ban
        self.lift = lift
        address = TourPlace.address(reaching: [publicURL, clientURL, provider])
    }

    mutating func walk() async throws {
        let (first, second) = try await arrive("A new device gets its key certified")
        do {
            try await certifiedWalk(first, second)
        } catch {
            try? await first.shutdown()
            try? await second.shutdown()
            throw error
        }
        try await first.shutdown()
        try await second.shutdown()
    }

    /// Certifies the device; two clients are two connections of it.
    mutating func arrive(_ sentence: String) async throws -> (HTTPClient, HTTPClient) {
        let plain = HTTPClient(configuration: configuration(try tls(certificate: nil)))
        let certified: JSONValue
        do {
            certified = try await exchange(
                sentence, plain, .POST, "\(publicURL)/certificates", json: ["csr": .string(try request())],
                expecting: .created)
            try await plain.shutdown()
        } catch {
            try? await plain.shutdown()
            throw error
        }
        let certificate = try tls(certificate: try text(certified, "certificate"))
        return (
            HTTPClient(configuration: configuration(certificate)), HTTPClient(configuration: configuration(certificate))
        )
    }

    private func configuration(_ tls: TLSConfiguration) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.localAddress = address
        return configuration
    }

    /// Signs in: gets a nonce and creates a session.
    mutating func signIn(_ http: HTTPClient) async throws -> JSONValue {
        let nonce = try text(
            try await exchange(
                "It connects over mutual TLS and takes a nonce", http, .POST, "\(clientURL)/nonces",
                expecting: .created),
            "nonce")
        let account: KeyValuePairs<String, JSONValue?> = [
            "Username": .string(name), "Password": .string(password), "DeviceID": .string("tour"),
        ]
        _ = try await exchange(
            "The user registers at the provider", http, .POST, "\(provider)/register", json: account)
        _ = try await exchange("The user logs in there", http, .POST, "\(provider)/login", json: account)
        return try await exchange(
            "Countersign opens a session", http, .POST, "\(clientURL)/sessions",
            json: ["identity_token": try await identityToken(http, nonce: nonce)], expecting: .created)
    }

    private mutating func certifiedWalk(_ first: HTTPClient, _ second: HTTPClient) async throws {
        let session = try await signIn(first)
        let sessionToken = try text(session, "session_token")
        guard let id = SessionID(try text(session, "session_id")[...]) else {
            throw CommandFailure("The service named no session.")
        }
        _ = try await exchange(
            "A protected action", first, .GET, "\(clientURL)/sessions/current", sessionToken: sessionToken)
        _ = try await exchange(
            "The session is resumed on a second connection", second, .POST, "\(clientURL)/sessions/resume",
            json: ["user_id": .string(try text(session, "user_id")), "session_token": .string(sessionToken)])

        try await provePhone(first, sessionToken)
        try await showCard(first, sessionToken)
        try await meet(first, sessionToken)

        try await challenge(id)
        show("An operator challenges the session", "countersign session challenge", "done", nil)
        try await Task.sleep(for: .milliseconds(500))
        let refused = try await exchange(
            "The same action is refused, with a fresh nonce", first, .GET, "\(clientURL)/sessions/current",
            sessionToken: sessionToken, expecting: .unauthorized)
        let fresh = try await identityToken(first, nonce: try text(refused, "nonce"))
        let renewed = try await exchange(
            "The user proves the identity again: renewed", first, .POST, "\(clientURL)/sessions/renew",
            json: ["identity_token": fresh], sessionToken: sessionToken)
        let newToken = try text(renewed, "session_token")
        _ = try await exchange(
            "The action is allowed again", second, .GET, "\(clientURL)/sessions/current", sessionToken: newToken)
        _ = try await exchange(
            "The user logs out", first, .DELETE, "\(clientURL)/sessions/current", sessionToken: newToken,
            expecting: .noContent)
        _ = try await exchange(
            "The token is worth nothing now", first, .GET, "\(clientURL)/sessions/current", sessionToken: newToken,
            expecting: .unauthorized)
    }

    mutating func provePhone(_ http: HTTPClient, _ sessionToken: String) async throws {
        let number = TourPlace.phoneNumber()
        let started = try await exchange(
            "The user names a phone number", http, .POST, "\(clientURL)/phone-verifications",
            json: ["phone_number": .string(number)], sessionToken: sessionToken, expecting: .accepted)
        let code = try await code(textedTo: number)
        show("A text brings the code (here: a line in \(URL(filePath: texts).lastPathComponent))", "", "", nil)
        _ = try await exchange(
            "The code proves the number", http, .POST,
            "\(clientURL)/phone-verifications/\(try text(started, "id"))/check", json: ["code": .string(code)],
            sessionToken: sessionToken)
    }

    mutating func showCard(_ http: HTTPClient, _ sessionToken: String) async throws {
        let barcode = Base64URL.encode(Array((SpecimenCard()?.barcode ?? "").utf8))
        let shown = try await exchange(
            "The user shows a driver's licence", http, .POST, "\(clientURL)/identity-cards",
            json: ["aamva": .string(barcode)], sessionToken: sessionToken, expecting: .created)
        let row = try await exchange(
            "The row in authenticatedUsers is filled", http, .GET, "\(clientURL)/me", sessionToken: sessionToken)
        let assurance = try text(row, "assurance")
        show("assurance: \(assurance)", "", "", nil)
        guard try text(shown, "status") == "verified", assurance == Assurance.barcode.rawValue else {
            throw CommandFailure("The card did not raise the level: it is \(assurance).")
        }
    }

    /// Waits for the text as a person would; the code follows the last `#`.
    private func code(textedTo number: String) async throws -> String {
        for _ in 0..<200 {
            let lines = (try? String(contentsOfFile: texts, encoding: .utf8))?.split(separator: "\n") ?? []
            for line in lines.reversed() {
                guard let value = try? StrictJSON.parse(Array(line.utf8)), value["to"]?.text == number,
                    let code = value["text"]?.text?.split(separator: "#").last
                else { continue }
                return String(code)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw CommandFailure("No text came to \(number) in \(texts): does the service write its texts there?")
    }

    mutating func identityToken(_ http: HTTPClient, nonce: String) async throws -> JSONValue {
        let answer = try await exchange(
            "The provider signs an identity token around the nonce", http, .POST, "\(provider)/identity-token",
            json: ["Username": .string(name), "Password": .string(password), "nonce": .string(nonce)])
        return .string(try text(answer, "identity_token"))
    }

    /// One request and its response, shown on one line. An unexpected response ends the tour with the problem's
    /// sentence.
    mutating func exchange(
        _ sentence: String, _ http: HTTPClient, _ method: HTTPMethod, _ url: String,
        json: KeyValuePairs<String, JSONValue?>? = nil, sessionToken: String? = nil,
        expecting: HTTPResponseStatus = .ok
    ) async throws -> JSONValue {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let json {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: JSONValue.object(json).jsonText))
        }
        if let sessionToken {
            request.headers.add(name: "authorization", value: "Layer session-token=\"\(sessionToken)\"")
        }
        let start = ContinuousClock.now
        let body: JSONValue
        let status: HTTPResponseStatus
        do {
            let response = try await http.execute(request, timeout: .seconds(30))
            status = response.status
            let bytes = try await response.body.collect(upTo: 262_144)
            body = bytes.readableBytes == 0 ? .null : try StrictJSON.parse(Array(bytes.readableBytesView))
        } catch {
            throw CommandFailure("\(method) \(url) got no answer: is the service running? (\(ErrorWords.of(error)))")
        }
        let path = URL(string: url)?.path ?? url
        show(sentence, "\(method) \(path)", "\(status.code)", ContinuousClock.now - start)
        guard status == expecting else {
            let code = body["code"]?.text ?? "no code"
            throw CommandFailure("Expected \(expecting.code): \(code): \(body["detail"]?.text ?? "no detail")")
        }
        return body
    }

    mutating func show(_ sentence: String, _ what: String, _ result: String, _ time: Duration?) {
        count += 1
        let milliseconds = time.map { time in
            let (seconds, attoseconds) = time.components
            return String(format: "%.1f ms", Double(seconds) * 1000 + Double(attoseconds) / 1e15)
        }
        let columns = [
            String(format: "%2d", count), sentence.padding(toLength: 54, withPad: " ", startingAt: 0),
            what.padding(toLength: 30, withPad: " ", startingAt: 0), result, milliseconds ?? "",
        ]
        Output.table([[columns.joined(separator: "  ")]])
    }

    func text(_ value: JSONValue, _ name: String) throws(CommandFailure) -> String {
        guard let text = value[name]?.text else { throw CommandFailure("The answer lacks \(name).") }
        return text
    }

    /// A PKCS#10 request for the device's key; the service reads only the key and the wished name.
    private func request() throws -> String {
        let privateKey = Certificate.PrivateKey(key)
        let request = try CertificateSigningRequest(
            version: .v1, subject: DistinguishedName { CommonName(UUID().uuidString.lowercased()) },
            privateKey: privateKey, attributes: CertificateSigningRequest.Attributes(),
            signatureAlgorithm: .ecdsaWithSHA256)
        return try request.serializeAsPEM().pemString
    }

    private func tls(certificate: String?) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(authority)
        if let certificate {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map {
                .certificate($0)
            }
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem))
        }
        return configuration
    }
}
