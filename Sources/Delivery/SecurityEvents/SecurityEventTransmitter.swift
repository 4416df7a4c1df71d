import AsyncHTTPClient
import Domain
import Encoding
import Foundation

/// Sends Security Event Tokens to providers' receivers (push delivery, RFC 8935).
///
/// A provider chooses the receiver's URL, so it must not lead to this service or its network. Every address of the
/// host must be public, and the connection goes to a checked address even if the name resolves to another later. The
/// peer's address is checked again before the request is sent.
package struct SecurityEventTransmitter: Sendable {
    let exchange: PublicExchange
    private let allowsLoopback: Bool

    /// - Parameter permits: whether an address is permitted. Called for each address before the connection, and for
    ///   the peer after it.
    init(
        _ delivery: DeliveryPolicy, _ webhooks: WebhookPolicy, allowingLoopback: Bool,
        resolver: HostResolver = .shared,
        permits: @escaping @Sendable (IPAddress) -> Bool
    ) {
        exchange = PublicExchange(
            .delivery(delivery), timeout: webhooks.attemptTimeout, resolver: resolver, permits: permits)
        allowsLoopback = allowingLoopback
    }

    static func outcome(_ answer: BoundedHTTPClient.Answer, retryAfter: TimeInterval? = nil) -> DeliveryOutcome {
        switch answer {
        case .failed(let reason): .unavailable(reason: reason)
        case .answered(200..<300, _): .sent(reference: "")
        case .answered(400, _): .refused(reason: "the receiver refused the event")
        case .answered(let status, _) where final.contains(status): .refused(reason: "HTTP \(status)")
        // RFC 9110 §15.5.11: the receiver is gone, and likely for good.
        case .answered(410, _): .receiverGone
        case .answered(let status, _) where RetryAfter.statuses.contains(status):
            .unavailable(reason: "HTTP \(status)", retryAfter: retryAfter)
        case .answered(let status, _): .unavailable(reason: "HTTP \(status)")
        }
    }
}

package extension SecurityEventTransmitter {
    /// Sends by these policies.
    ///
    /// - Parameter allowingLoopback: also permits this machine, for development and tests.
    init(_ delivery: DeliveryPolicy, _ webhooks: WebhookPolicy, allowingLoopback: Bool) {
        self.init(delivery, webhooks, allowingLoopback: allowingLoopback) {
            PublicURL.permits($0, allowingLoopback: allowingLoopback)
        }
    }

    /// The statuses of a receiver that will never accept such a request (RFC 9110 §15.5.6, §15.5.14, §15.5.16).
    private static let final: Set<UInt> = [405, 413, 415]

    /// Makes one attempt. 2xx accepts the token. 400 (RFC 8935 §2.4), 405, 413 and 415 refuse it for good. 410 means
    /// that the receiver is gone. Everything else is retried, after 429 and 503 at the time that the receiver names.
    ///
    /// - Parameters:
    ///   - provider: the receiver's provider.
    ///   - authorization: the `Authorization` header that the receiver requires; `nil` for none.
    func send(
        _ token: String, to text: String, of provider: ProviderID, authorization: Secret<String>? = nil
    ) async -> DeliveryOutcome {
        guard let url = PublicURL(text, allowingLoopback: allowsLoopback) else {
            return .refused(reason: "the webhook is not an https URL of a public host")
        }
        let headers =
            [(name: "Content-Type", value: "application/secevent+jwt"), (name: "Accept", value: "application/json")]
            + (authorization.map { [(name: "Authorization", value: $0.reveal())] } ?? [])
        let outcome = await exchange(with: url, of: .provider(provider)) {
            await $0.reply(to: Array(token.utf8), for: url.web, headers: headers)
        }
        switch outcome {
        case .unknownHost: return .unavailable(reason: "the webhook's host has no address")
        case .forbidden: return .refused(reason: "the webhook's host has an address that is not public")
        case .exchanged(let reply): return Self.outcome(reply.answer, retryAfter: reply.retryAfter)
        }
    }
}
