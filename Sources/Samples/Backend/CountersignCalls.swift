import AsyncHTTPClient
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// The provider's side: signs identity tokens for its users, and calls Countersign about them.
package actor CountersignCalls {
    /// The output of `countersign provider add --json` when the provider's public key was registered.
    private struct Registration: Decodable {
        let providerID, keyID: String

        enum CodingKeys: String, CodingKey {
            case providerID = "provider_id"
            case keyID = "key_id"
        }
    }

    /// The time for the app to send an identity token to Countersign, and the lifetime of a token for calls, in
    /// seconds.
    private static let identityTokenLifetime = 300, providerTokenLifetime = 3600

    private let sample: Sample
    private let registration: Registration
    private let key: P256.Signing.PrivateKey
    private var knownRealm: String?
    private var providerToken: (value: String, renewAt: Date)?

    /// Reads the files that `--registration` and `--key` name. The key must be for ES256.
    package init(_ sample: Sample) throws {
        self.sample = sample
        let (registration, key) = (try sample.file("--registration"), try sample.file("--key"))
        do {
            self.registration = try JSONDecoder().decode(Registration.self, from: registration)
        } catch {
            throw Options.Failure(
                reason: "--registration: the file is not the output of `countersign provider add --json`")
        }
        do {
            self.key = try P256.Signing.PrivateKey(pemRepresentation: String(decoding: key, as: UTF8.self))
        } catch {
            throw Options.Failure(reason: "--key: the file is not a P-256 private key in PEM")
        }
    }
}

package extension CountersignCalls {
    /// The audience of session tokens for this backend.
    nonisolated var providerID: String { registration.providerID }

    /// States that a user has just logged in on the device with this nonce.
    func identityToken(user: String, nonce: String) async throws -> String {
        let realm = try await realm()
        return try sign(
            "layer-eit;v=1", ["prn": user, "nce": nonce, "aud": realm], lifetime: Self.identityTokenLifetime)
    }

    /// `DELETE /provider/users/{external_id}/sessions`: logs a user out on every device. A user unknown to Countersign
    /// has no sessions.
    func endSessions(of user: String) async throws {
        _ = try await call(.DELETE, "/provider/users/\(Self.percentEncoded(user))/sessions", allowing: [204, 404])
    }

    /// `POST /provider/users/{external_id}/notifications`: notifies a user on all devices.
    ///
    /// - Parameter id: a new one for each notification. A repetition has no effect.
    /// - Returns: `false` if Countersign does not know the user, who has never signed in.
    func notify(
        _ user: String, id: UUID, title: String, body: String, data: [String: String]
    ) async throws -> Bool {
        struct Notification: Encodable {
            let id, title, body: String
            let data: [String: String]
        }
        let content = try JSONEncoder().encode(
            Notification(id: id.uuidString.lowercased(), title: title, body: body, data: data))
        let path = "/provider/users/\(Self.percentEncoded(user))/notifications"
        let status = try await call(.POST, path, body: content, allowing: [202, 404, 413])
        guard status != 413 else { throw HTTPError(.badRequest, message: "the message is too long") }
        return status == 202
    }

    private func realm() async throws -> String {
        struct Discovery: Decodable { let realm: String }
        if let knownRealm { return knownRealm }
        let found = try await Self.reaching {
            try JSONDecoder().decode(Discovery.self, from: await sample.fetch("/.well-known/countersign"))
        }
        knownRealm = found.realm
        return found.realm
    }

    /// - Returns: the status of a successful response, or one that the caller accepts.
    private func call(
        _ method: HTTPMethod, _ path: String, body: Data? = nil, allowing: Set<UInt>
    ) async throws -> UInt {
        var request = HTTPClientRequest(url: sample.service + path)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(try await currentProviderToken())")
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let sent = request
        let status = try await Self.reaching {
            let answer = try await sample.http.execute(sent, timeout: .seconds(5))
            _ = try await answer.body.collect(upTo: 64 * 1024)
            return answer.status.code
        }
        if status == 401 { providerToken = nil }  // the next call signs a new one
        if status == 429 {
            throw HTTPError(.tooManyRequests, message: "Countersign accepts no more notifications now: try again later")
        }
        guard allowing.contains(status) else {
            throw HTTPError(.badGateway, message: "Countersign answered \(status)")
        }
        return status
    }

    private static func reaching<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await work()
        } catch {
            throw HTTPError(.serviceUnavailable, message: "Countersign cannot be reached")
        }
    }

    private func currentProviderToken() async throws -> String {
        let now = Date()
        if let providerToken, now < providerToken.renewAt { return providerToken.value }
        let value = try sign(
            "layer-provider;v=1", ["aud": try await realm()], lifetime: Self.providerTokenLifetime)
        providerToken = (value, now.addingTimeInterval(TimeInterval(Self.providerTokenLifetime - 300)))
        return value
    }

    private struct Header: Encodable {
        let typ = "JWT"
        let alg = "ES256"
        let cty, kid: String
    }

    /// Signs claims as a compact JWS (RFC 7515).
    private func sign(_ contentType: String, _ claims: [String: String], lifetime: Int) throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        var members = claims.mapValues(Member.text)
        (members["iat"], members["exp"]) = (.number(now), .number(now + lifetime))
        members["iss"] = .text(registration.providerID)
        let encoder = JSONEncoder()
        let header = try encoder.encode(Header(cty: contentType, kid: registration.keyID)).base64URL
        let signed = "\(header).\(try encoder.encode(members).base64URL)"
        return "\(signed).\(try key.signature(for: Data(signed.utf8)).rawRepresentation.base64URL)"
    }

    private enum Member: Encodable {
        case text(String)
        case number(Int)

        func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .text(let text): try value.encode(text)
            case .number(let number): try value.encode(number)
            }
        }
    }

    /// Leaves only RFC 3986's unreserved characters, so that no user name can change the path.
    private static func percentEncoded(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
