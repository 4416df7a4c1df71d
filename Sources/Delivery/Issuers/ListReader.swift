import AsyncHTTPClient
import Domain
import Encoding
import Foundation

/// Fetches lists about credentials, of their status or of their issuers, with the restrictions of webhooks: https, no
/// private address, no redirect, and a deadline.
package struct ListReader: Sendable {
    private let exchange: PublicExchange
    private let allowsLoopback: Bool
    private let accept: String

    /// Seconds, because a user waits.
    private static let timeout: TimeInterval = 5
    /// Longer lists are not read, bytes.
    private static let maximumLength = 2 << 20

    /// - Parameters:
    ///   - allowingLoopback: also permits this machine, for development and tests.
    ///   - accept: the media types in the request.
    package init(
        _ policy: DeliveryPolicy, allowingLoopback: Bool,
        accept: String = "application/statuslist+jwt, application/statuslist+cwt"
    ) {
        exchange = PublicExchange(.delivery(policy), timeout: Self.timeout) {
            PublicURL.permits($0, allowingLoopback: allowingLoopback)
        }
        allowsLoopback = allowingLoopback
        self.accept = accept
    }

    /// Fetches a list by its URI; `nil` if it cannot be fetched.
    ///
    /// - Parameter owner: who names the URI. It may name many hosts.
    package func callAsFunction(_ uri: String, of owner: HostOwner) async -> [UInt8]? {
        guard let url = PublicURL(uri, allowingLoopback: allowsLoopback) else { return nil }
        let outcome = await exchange(with: url, of: owner) { http in
            await http.get(url.web, upTo: Self.maximumLength, accept: accept)
        }
        guard case .exchanged(let reply) = outcome, case .answered(200, let body?) = reply.answer,
            !reply.isEncoded
        else { return nil }
        return body
    }
}
