import Crypto
import CryptoExtras
import Foundation
import Hummingbird

/// Countersign's public keys (RFC 7517). They are fetched once, and again only for an unknown key id, at most once a
/// minute.
actor ServiceKeys {
    enum Key: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)

        func isValid(_ signature: Data, over text: Data, algorithm: String) -> Bool {
            switch (self, algorithm) {
            case (.rsa(let key), "RS256"):
                key.isValidSignature(.init(rawRepresentation: signature), for: text, padding: .insecurePKCS1v1_5)
            case (.p256(let key), "ES256"):
                (try? P256.Signing.ECDSASignature(rawRepresentation: signature))
                    .map { key.isValidSignature($0, for: text) } ?? false
            default: false
            }
        }
    }

    private let fetch: @Sendable () async throws -> Data
    private var keys: [String: Key] = [:]
    private var askedAt: ContinuousClock.Instant?
    private var asking: Task<[String: Key], any Error>?

    init(fetch: @escaping @Sendable () async throws -> Data) {
        self.fetch = fetch
    }

    /// The key with an id; `nil` if Countersign does not publish it.
    ///
    /// - Throws: `503` if Countersign's keys are not known yet.
    func key(_ id: String) async throws -> Key? {
        if let known = keys[id] { return known }
        if let asking {
            _ = try? await asking.value
        } else {
            let now = ContinuousClock.now
            let pause: Duration = keys.isEmpty ? .seconds(5) : .seconds(60)
            guard askedAt.map({ now - $0 >= pause }) ?? true else { return try found(id) }
            askedAt = now
            let task = Task { [fetch] in Self.read(try await fetch()) }
            asking = task
            let fetched = try? await task.value
            asking = nil
            if let fetched, !fetched.isEmpty { keys = fetched }
        }
        return try found(id)
    }

    private struct Header: Decodable { let alg, kid, typ: String }

    /// The payload of a compact JWS (RFC 7515) of a type, if Countersign signed it.
    ///
    /// - Throws: `503` if Countersign's keys are not known yet.
    func payload(of token: Substring, type: String) async throws -> Data? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Data(base64URL: parts[0]), let body = Data(base64URL: parts[1]),
            let signature = Data(base64URL: parts[2]), let header = try? JSONDecoder().decode(Header.self, from: head),
            header.typ == type
        else { return nil }
        let signed = Data(token.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
        guard let key = try await key(header.kid) else { return nil }
        return key.isValid(signature, over: signed, algorithm: header.alg) ? body : nil
    }

    private func found(_ id: String) throws -> Key? {
        guard !keys.isEmpty else {
            throw HTTPError(.serviceUnavailable, message: "Countersign's keys are not known yet")
        }
        return keys[id]
    }

    private struct KeySet: Decodable {
        struct Member: Decodable { let kid, kty, crv, n, e, x, y: String? }
        let keys: [Member]
    }

    private static func read(_ document: Data) -> [String: Key] {
        let members = (try? JSONDecoder().decode(KeySet.self, from: document))?.keys ?? []
        return members.reduce(into: [:]) { found, member in
            guard let id = member.kid else { return }
            if member.kty == "RSA", let n = Data(base64URL: member.n), let e = Data(base64URL: member.e) {
                found[id] = (try? _RSA.Signing.PublicKey(n: n, e: e)).map { .rsa($0) }
            } else if member.crv == "P-256", let x = Data(base64URL: member.x), let y = Data(base64URL: member.y) {
                found[id] = (try? P256.Signing.PublicKey(rawRepresentation: x + y)).map { .p256($0) }
            }
        }
    }
}

extension Data {
    /// Reads base64url without padding (RFC 4648 §5); `nil` for anything else.
    init?(base64URL text: some StringProtocol) {
        guard text.utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2F && $0 != 0x3D }) else { return nil }
        let usual = String(text).replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        self.init(base64Encoded: usual + String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4))
    }

    fileprivate init?(base64URL text: String?) {
        guard let text else { return nil }
        self.init(base64URL: text[...])
    }

    var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
