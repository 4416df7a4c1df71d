import Crypto
import CryptoExtras
import Foundation
import NIOHTTP1

/// Countersign's Shared Signals events about this provider's users (SSF 1.0): the receiver of a polled stream (RFC
/// 8936).
///
/// A real backend polls continuously and ends its own sessions by these events. This one polls when its app asks, and
/// only keeps the names of the events.
actor SignalReceiver {
    /// The maximum number of events that are kept for a user, and of users.
    static let keptEvents = 20, keptUsers = 1_000

    private struct Stream: Decodable {
        struct Delivery: Decodable {
            let method: String
            let endpointUrl: String
        }

        let iss: String
        let delivery: Delivery
    }

    private struct Answer: Decodable {
        let sets: [String: String]
        let moreAvailable: Bool?
    }

    private struct Question: Encodable {
        struct Fault: Encodable {
            let err = "authentication_failed"
            let description = "The event is not one of the stream's, signed by the transmitter."
        }

        var returnImmediately = true
        var maxEvents: Int?
        var ack: [String] = []
        var setErrs: [String: Fault] = [:]
    }

    private let service: CountersignService
    private let providerID: String
    private var stream: Stream?
    private var keys: [String: _RSA.Signing.PublicKey] = [:]
    private var events: [String: [String]] = [:]

    init(service: CountersignService, providerID: String) {
        (self.service, self.providerID) = (service, providerID)
    }

    /// The names of the events about a user, oldest first, after polling the waiting ones.
    func events(about user: String) async throws -> [String] {
        let stream = try await currentStream()
        guard let endpoint = URL(string: stream.delivery.endpointUrl) else { throw URLError(.badURL) }
        var question = Question()
        var isMore = true
        while isMore {
            let body = try await service.call(.POST, endpoint.path, json: try JSONEncoder().encode(question))
            let answer = try JSONDecoder().decode(Answer.self, from: body)
            question = Question()
            for (identifier, token) in answer.sets {
                do {
                    try note(try await claims(of: token, in: stream, identifier))
                    question.ack.append(identifier)
                } catch is NotGenuine {
                    question.setErrs[identifier] = Question.Fault()
                }
            }
            isMore = answer.moreAvailable ?? false
            if !isMore, !answer.sets.isEmpty {
                question.maxEvents = 0
                _ = try await service.call(.POST, endpoint.path, json: try JSONEncoder().encode(question))
            }
        }
        return events[user] ?? []
    }

    /// The provider's polled stream, created if there is none.
    private func currentStream() async throws -> Stream {
        if let stream { return stream }
        let present = try Self.decoder.decode([Stream].self, from: try await service.call(.GET, "/ssf/streams"))
        if let polled = present.first(where: { $0.delivery.method == "urn:ietf:rfc:8936" }) {
            stream = polled
            return polled
        }
        let made = try Self.decoder.decode(
            Stream.self, from: try await service.call(.POST, "/ssf/streams", json: Data("{}".utf8)))
        stream = made
        return made
    }

    // MARK: Tokens

    private struct NotGenuine: Error {}

    private struct Header: Decodable {
        let typ: String
        let alg: String
        let kid: String
    }

    private struct Claims: Decodable {
        struct Event: Decodable {}

        let iss: String
        let aud: String
        let jti: String
        let externalId: String?
        let events: [String: Event]
    }

    /// The claims of a Security Event Token (RFC 8417), after its signature, issuer and audience were verified.
    private func claims(of token: String, in stream: Stream, _ identifier: String) async throws -> Claims {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decode(parts[0]), let payload = Self.decode(parts[1]),
            let signature = Self.decode(parts[2]),
            let head = try? JSONDecoder().decode(Header.self, from: header), head.typ == "secevent+jwt",
            head.alg == "RS256", let key = try await key(head.kid),
            key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature),
                for: SHA256.hash(data: Data("\(parts[0]).\(parts[1])".utf8)), padding: .insecurePKCS1v1_5),
            let claims = try? Self.decoder.decode(Claims.self, from: payload), claims.iss == stream.iss,
            claims.aud == providerID, claims.jti == identifier
        else { throw NotGenuine() }
        return claims
    }

    private func note(_ claims: Claims) throws {
        guard let user = claims.externalId, events[user] != nil || events.count < Self.keptUsers else { return }
        for type in claims.events.keys {
            let name = String(type.split(separator: "/").last ?? "")
            events[user] = Array(((events[user] ?? []) + [name]).suffix(Self.keptEvents))
        }
    }

    /// The transmitter's key with an id. The key set is fetched again for an unknown id.
    private func key(_ id: String) async throws -> _RSA.Signing.PublicKey? {
        struct KeySet: Decodable {
            struct Key: Decodable {
                let kty: String
                let kid: String
                let n: String?
                let e: String?
            }

            let keys: [Key]
        }
        if let key = keys[id] { return key }
        let set = try JSONDecoder().decode(
            KeySet.self, from: try await service.call(.GET, "/.well-known/jwks.json"))
        for key in set.keys where key.kty == "RSA" {
            guard let n = key.n.flatMap({ Self.decode($0[...]) }), let e = key.e.flatMap({ Self.decode($0[...]) })
            else { continue }
            keys[key.kid] = try _RSA.Signing.PublicKey(n: n, e: e)
        }
        return keys[id]
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    private static func decode(_ text: Substring) -> Data? {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4))
    }
}
