import AsyncHTTPClient
import Domain
import Encoding
import Foundation

/// Fetches the key set of an OpenID provider, whose discovery document (OpenID Connect Discovery 1.0 §4) has its URL.
///
/// Both are fetched with the restrictions of webhooks: https, no private address, no redirect, 512 KiB, and one
/// deadline for both.
package struct KeySetReader: Sendable {
    let exchange: PublicExchange
    private let allowsLoopback: Bool

    /// For both documents together, seconds.
    static let timeout: TimeInterval = 5

    /// Longer documents are not read, bytes. A set of twenty keys with certificates has 80 KiB.
    static let maximumDocument = 524_288

    /// - Parameter permits: whether an address is permitted.
    init(
        _ policy: DeliveryPolicy, allowingLoopback: Bool, timeout: TimeInterval = timeout,
        permits: @escaping @Sendable (IPAddress) -> Bool
    ) {
        exchange = PublicExchange(.delivery(policy), timeout: timeout, permits: permits)
        allowsLoopback = allowingLoopback
    }
}

package extension KeySetReader {
    enum Reading: Sendable, Equatable {
        /// The key set (RFC 7517 §5) unchanged, and its `Cache-Control`.
        case read(keySet: [UInt8], cacheControl: String?)
        /// Why it could not be fetched, in words.
        case failed(reason: String)
    }

    /// Fetches the key set of an issuer by the issuer's URL.
    typealias Read = @Sendable (_ issuer: String) async -> Reading

    /// - Parameter allowingLoopback: also permits this machine, for development and tests.
    init(_ policy: DeliveryPolicy, allowingLoopback: Bool, timeout: TimeInterval = timeout) {
        self.init(policy, allowingLoopback: allowingLoopback, timeout: timeout) {
            PublicURL.permits($0, allowingLoopback: allowingLoopback)
        }
    }

    /// Fetches the discovery document and then the key set.
    func callAsFunction(_ issuer: String) async -> Reading {
        await withTaskGroup(of: Reading.self) { group in
            group.addTask { await read(issuer) }
            group.addTask { [timeout = exchange.timeout] in
                try? await Task.sleep(for: .seconds(timeout))
                return .failed(reason: "no answer in time")
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failed(reason: "cancelled")
        }
    }

    private func read(_ issuer: String) async -> Reading {
        do throws(Defect) {
            let path = issuer.hasSuffix("/") ? issuer.dropLast() : issuer[...]
            let (bytes, _) = try await get(
                "\(path)\(ProviderIssuer.discoveryPath)", of: issuer, "the discovery document")
            guard let document = try? JSONOutline(bytes) else {
                throw Defect(reason: "the discovery document is not JSON")
            }
            try Self.require(issuer, by: document["issuer"])
            guard let place = document["jwks_uri"]?.text else {
                throw Defect(reason: "the discovery document has no jwks_uri")
            }
            let (keySet, cacheControl) = try await get(place, of: issuer, "the key set")
            return .read(keySet: keySet, cacheControl: cacheControl)
        } catch {
            return .failed(reason: error.reason)
        }
    }

    private struct Defect: Error {
        let reason: String
    }

    /// Requires that the document is the issuer's own. Otherwise the reason contains the issuer that it names, for the
    /// operator to copy.
    private static func require(_ issuer: String, by claim: JSONValue?) throws(Defect) {
        guard let named = claim?.text, (1...256).contains(named.utf8.count), PlainText.isPlain(named, for: .identifier)
        else { throw Defect(reason: "the discovery document has no issuer") }
        guard !named.hasSameBytes(as: issuer) else { return }
        guard !named.utf8.contains(UInt8(ascii: "{")) else {
            throw Defect(
                reason: "the discovery document is for many issuers, \(named): "
                    + "register the issuer of your tenant, with its id in place of the braces")
        }
        throw Defect(reason: "the discovery document is of the issuer \(named): register that one if it is meant")
    }

    private func get(
        _ text: String, of issuer: String, _ what: String
    ) async throws(Defect) -> (body: [UInt8], cacheControl: String?) {
        guard let url = PublicURL(text, allowingLoopback: allowsLoopback) else {
            throw Defect(reason: "the URL of \(what) is not an https URL of a public host")
        }
        let reply: BoundedHTTPClient.Reply
        switch await exchange(with: url, of: .issuer(issuer), { await $0.get(url.web, upTo: Self.maximumDocument) }) {
        case .unknownHost: throw Defect(reason: "the host of \(what) has no address")
        case .forbidden: throw Defect(reason: "the host of \(what) has an address that is not public")
        case .exchanged(let answer): reply = answer
        }
        switch reply.answer {
        case .failed(let reason): throw Defect(reason: "\(what): \(reason)")
        case .answered(200, let body?):
            if reply.isEncoded {
                throw Defect(reason: "\(what) has a Content-Encoding, which was not requested")
            }
            return (body, reply.cacheControl)
        case .answered(200, nil):
            throw Defect(reason: "\(what) is longer than \(Self.maximumDocument) bytes")
        case .answered(let status, _): throw Defect(reason: "\(what): HTTP \(status)")
        }
    }
}
