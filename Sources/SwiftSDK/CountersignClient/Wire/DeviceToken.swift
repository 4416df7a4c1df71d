import Crypto
import Foundation

/// Tokens that the device signs with its key: compact JWS, ES256 (RFC 7518 §3.4).
struct DeviceToken: Sendable {
    let keys: any DeviceKeys
    let keyName: String

    /// A certification request, with the key and a proof of its possession.
    func certificationRequest(deviceID: UUID, publicPoint: Data) async throws(Refusal) -> String {
        struct Header: Encodable {
            let typ = "JWS"
            let cty = "layer-csr;v=1"
            let alg = "ES256"
        }
        struct Claims: Encodable {
            let uat = "countersign-client"
            let prn: String
            let pka = "EC"
            let pky: String
        }
        guard let key = try? P256.Signing.PublicKey(x963Representation: publicPoint) else {
            throw .storage(.damaged)
        }
        return try await sign(
            Header(), Claims(prn: deviceID.path, pky: key.derRepresentation.base64EncodedString()))
    }

    /// A proof of the user's presence.
    ///
    /// - Parameter number: E.164, with or without marks between the digits.
    func presenceProof(nonce: String, method: String, number: String, at time: Date) async throws(Refusal) -> String {
        struct Header: Encodable {
            let typ = "JWS"
            let cty = "layer-presence;v=1"
            let alg = "ES256"
        }
        struct Claims: Encodable {
            let nce: String
            let iat: Int64
            let method: String
            let digest: String

            private enum CodingKeys: String, CodingKey {
                case nce, iat, method
                case digest = "phone_sha256"
            }
        }
        let plain = "+" + number.filter { ("0"..."9").contains($0) }
        return try await sign(
            Header(),
            Claims(
                nce: nonce, iat: Int64(time.timeIntervalSince1970), method: method,
                digest: Data(SHA256.hash(data: Data(plain.utf8))).base64URL))
    }

    /// A proof for one request (RFC 9449 §4.2).
    ///
    /// - Parameter token: the accompanying access token, for the app's backend.
    func proof(method: String, url: String, token: String?, at now: Date) async throws(Refusal) -> String {
        struct Header: Encodable {
            let typ = "dpop+jwt"
            let alg = "ES256"
            let jwk: [String: String]
        }
        struct Claims: Encodable {
            let jti: String
            let htm: String
            let htu: String
            let iat: Int64
            let ath: String?
        }
        let point: Data?
        do throws(StorageFailure) { point = try await keys.publicPoint(keyName) } catch { throw .storage(error) }
        guard let point, point.count == 65 else { throw .storage(.damaged) }
        let jwk = [
            "kty": "EC", "crv": "P-256", "x": point.dropFirst().prefix(32).base64URL, "y": point.suffix(32).base64URL,
        ]
        return try await sign(
            Header(jwk: jwk),
            Claims(
                jti: UUID().path, htm: method, htu: url, iat: Int64(now.timeIntervalSince1970),
                ath: token.map { Data(SHA256.hash(data: Data($0.utf8))).base64URL }))
    }

    private func sign(_ header: some Encodable, _ claims: some Encodable) async throws(Refusal) -> String {
        guard let header = try? JSONEncoder().encode(header), let claims = try? JSONEncoder().encode(claims) else {
            throw .unreadable("a token could not be encoded")
        }
        let input = "\(header.base64URL).\(claims.base64URL)"
        let der: Data
        do throws(StorageFailure) {
            der = try await keys.sign(Data(input.utf8), with: keyName)
        } catch {
            throw .storage(error)
        }
        guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: der) else {
            throw .storage(.damaged)
        }
        return "\(input).\(signature.rawRepresentation.base64URL)"
    }

    /// The issue time of a provider's token; `nil` if it has none.
    static func issued(_ token: String) -> Date? {
        struct Claims: Decodable { let iat: Double }
        let parts = token.split(separator: ".")
        guard parts.count == 3, let payload = Data(base64URL: String(parts[1])),
            let claims = try? JSONDecoder().decode(Claims.self, from: payload)
        else { return nil }
        return Date(timeIntervalSince1970: claims.iat)
    }
}
