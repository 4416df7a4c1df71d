import AsyncHTTPClient
import Foundation
import Identity
import NIOCore
import NIOPosix

/// Hands Security Event Tokens to providers' receivers (push delivery, RFC 8935).
///
/// The receiver's URL comes from outside, so the house is not asked to speak to itself or its neighbours: every address of
/// the host must be a public one, and the connection goes to the address that was judged, whatever the name says later.
public struct EventReceiver: Sendable {
    private let configuration: HTTPClient.Configuration
    private let timeout: TimeInterval
    private let allowsPrivateAddresses: Bool

    /// Sends by these rules.
    public init(_ delivery: DeliveryPolicy, _ webhooks: WebhookPolicy) {
        configuration = .delivery(delivery)
        timeout = webhooks.attemptTimeout
        allowsPrivateAddresses = webhooks.privateAddresses
    }

    /// Makes one attempt: 2xx is taken, 400 is refused for good (RFC 8935 §2.4), everything else is tried again.
    public func send(_ token: String, to text: String) async -> DeliveryOutcome {
        guard let url = ServiceURL(text), allowsPrivateAddresses || !url.isPlain else {
            return .refused(reason: "the webhook is no https URL")
        }
        var configuration = configuration
        if !allowsPrivateAddresses {
            switch await Self.judge(url.name) {
            case .reachable(let address): configuration.dnsOverride = [url.name: address]
            case .unknown: return .unavailable(reason: "the webhook's host has no address")
            case .forbidden: return .refused(reason: "the webhook's host has an address that is not public")
            }
        }
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let answer = await Exchange(http: http, timeout: timeout).post(
            Array(token.utf8), to: url,
            headers: [
                (name: "Content-Type", value: "application/secevent+jwt"), (name: "Accept", value: "application/json"),
            ])
        try? await http.shutdown()
        return switch answer {
        case .failed(let reason): .unavailable(reason: reason)
        case .answered(200..<300, _): .sent(reference: "")
        case .answered(400, _): .refused(reason: "the receiver refused the event")
        case .answered(let status, _): .unavailable(reason: "HTTP \(status)")
        }
    }

    private enum Judgement: Sendable {
        case reachable(String)
        case unknown
        case forbidden
    }

    /// Asks the resolver off the event loops, for it may take long.
    private static func judge(_ host: String) async -> Judgement {
        let addresses = try? await NIOThreadPool.singleton.runIfActive { NetworkAddress.resolve(host) }
        guard let addresses, let first = addresses.first else { return .unknown }
        return addresses.allSatisfy(\.isPublic) ? .reachable(first.description) : .forbidden
    }
}

/// An address of a host, and whether it lies in the public Internet.
struct NetworkAddress: Sendable, Equatable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    let bytes: [UInt8]

    /// Every address of a host; none where it has none.
    static func resolve(_ host: String) -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard getaddrinfo(bare, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [NetworkAddress] = []
        var next = list
        while let entry = next?.pointee, addresses.count < 64 {
            if let address = NetworkAddress(entry) { addresses.append(address) }
            next = entry.ai_next
        }
        return addresses
    }

    private init?(_ entry: addrinfo) {
        guard let pointer = entry.ai_addr else { return nil }
        switch entry.ai_family {
        case AF_INET:
            bytes = pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            bytes = pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0) }
            }
        default: return nil
        }
    }

    /// Takes bytes in network order.
    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The address in numbers.
    var description: String {
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2).map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
            .joined(separator: ":")
    }

    /// Whether the IANA special-purpose registries (RFC 6890) leave it to the public Internet.
    var isPublic: Bool {
        bytes.count == 4 ? Self.isPublic4(bytes) : bytes.count == 16 && Self.isPublic6(bytes)
    }

    private static func isPublic4(_ bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
        case (100, 64..<128, _), (169, 254, _), (172, 16..<32, _), (192, 168, _), (198, 18...19, _): false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): false
        default: true
        }
    }

    /// Global unicast alone (2000::/3), without what embeds or documents other addresses.
    private static func isPublic6(_ bytes: [UInt8]) -> Bool {
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0x20, 0x01, 0x00...0x01, _), (0x20, 0x01, 0x0D, 0xB8), (0x20, 0x02, _, _), (0x3F, 0xFF, _, _):
            return false
        default: return true
        }
    }
}
