import Crypto
import Domain
import Encoding
import Foundation
import Operations
import Tokens

/// The answer of a wallet with the request that it answers, as a developer captured both in a JSON file.
struct WalletCapture {
    let request: PresentationRequest
    let answer: PresentationVerifier.Answer

    private static let maximumSize = 524_288

    /// Reads a file.
    ///
    /// - Throws: ``CommandFailure`` that names the member.
    init(path: String) throws(CommandFailure) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure("\(path) cannot be read.")
        }
        guard data.count <= Self.maximumSize else {
            throw CommandFailure("\(path) is longer than \(Self.maximumSize) bytes.")
        }
        do throws(JSONDefect) {
            try self.init(Self.namingRequest(StrictJSON.parse(data)))
        } catch {
            throw CommandFailure("\(path): \(error.path) \(error.problem).")
        }
    }

    /// Reads the object of a file.
    init(_ json: JSONValue) throws(JSONDefect) {
        let key = try json["key"].map { jwk throws(JSONDefect) in try Self.key(jwk) }
        let thumbprint = json["key_thumbprint"]?.text.flatMap { Base64URL.decode($0) } ?? key?.thumbprint ?? []
        request = PresentationRequest(
            channel: try Self.channel(json), nonce: json["nonce"]?.text ?? "", keyThumbprint: thumbprint,
            credentials: try Self.credentials(json["query"]), state: json["state"]?.text)
        answer = try Self.answer(json, request.channel, key)
    }

    static func defect(_ path: String, _ problem: String) -> JSONDefect {
        JSONDefect(path: path, problem: problem)
    }

    private static func channel(_ json: JSONValue) throws(JSONDefect) -> PresentationRequest.Channel {
        if let origin = json["origin"]?.text {
            guard let info = json["encryption_info"]?.text else { return .digitalCredentials(origin: origin) }
            return .annexC(origin: origin, encryptionInfo: info)
        }
        guard let client = json["client_id"]?.text, let uri = json["response_uri"]?.text else {
            throw Self.defect(
                "$", "must have origin (Digital Credentials API), or client_id and response_uri (redirect)")
        }
        return .redirect(clientID: client, responseURI: uri)
    }

    private static func answer(
        _ json: JSONValue, _ channel: PresentationRequest.Channel, _ key: ResponseKey?
    ) throws(JSONDefect) -> PresentationVerifier.Answer {
        if let bytes = json["device_response"]?.text {
            guard let bytes = Base64URL.decode(bytes) else {
                throw Self.defect("$.device_response", "is not base64url")
            }
            return .deviceResponse(bytes)
        }
        if json["vp_token"] != nil { return .token(json.jsonBytes) }
        guard let text = json["response"]?.text.map(posted) else {
            throw Self.defect("$", "must have the answer: response, vp_token or device_response")
        }
        guard let key else {
            throw Self.defect("$.key", "is missing: the private JWK with which response is decrypted")
        }
        if case .annexC = channel { return .annexC(text, key) }
        return .encrypted(text, key)
    }

    private static func key(_ jwk: JSONValue) throws(JSONDefect) -> ResponseKey {
        guard jwk["kty"]?.text == "EC", jwk["crv"]?.text == "P-256",
            let number = jwk["d"]?.text.flatMap({ Base64URL.decode($0) }),
            let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: number)
        else { throw Self.defect("$.key", "is not a private JWK on P-256") }
        return ResponseKey(id: jwk["kid"]?.text ?? "", privateKey: key)
    }

    private static func credentials(_ query: JSONValue?) throws(JSONDefect) -> [RequestedCredential] {
        guard case .array(let elements)? = query, !elements.isEmpty else {
            throw Self.defect("$.query", "must be an array of the requested credentials")
        }
        var credentials: [RequestedCredential] = []
        for (index, element) in elements.enumerated() {
            guard let id = element["id"]?.text, let type = element["type"]?.text,
                let format = element["format"]?.text.flatMap(RequestedCredential.Format.init),
                let claims = paths(element["claims"])
            else {
                throw Self.defect(
                    "$.query[\(index)]",
                    "must have id, format (mso_mdoc or dc+sd-jwt), type and claims, an array of paths")
            }
            credentials.append(RequestedCredential(id: id, format: format, type: type, claims: claims))
        }
        return credentials
    }

    private static func paths(_ value: JSONValue?) -> [[String]]? {
        guard case .array(let paths)? = value else { return nil }
        let texts = paths.compactMap { path -> [String]? in
            guard case .array(let parts) = path, !parts.isEmpty else { return nil }
            let texts = parts.compactMap(\.text)
            return texts.count == parts.count ? texts : nil
        }
        return texts.count == paths.count ? texts : nil
    }
}
