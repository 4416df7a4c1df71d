import AsyncHTTPClient
import Domain
import Encoding
import Foundation

/// Hands Security Event Tokens to providers' receivers (push delivery, RFC 8935).
///
/// The receiver's URL comes from outside, so the service is not asked to speak to itself or its neighbours: every address
/// of the host must be a public one, the connection goes to the address that was checked, whatever the name says later,
/// and before anything is asked the other end is looked at again.
package struct SecurityEventTransmitter: Sendable {
    private let configuration: HTTPClient.Configuration
    private let timeout: TimeInterval
    private let allowsLoopback: Bool
    private let permits: @Sendable (IPAddress) -> Bool

    /// Sends by these rules.
    ///
    /// - Parameter allowingLoopback: speaks to this machine, too: the switch for development and tests.
    package init(_ delivery: DeliveryPolicy, _ webhooks: WebhookPolicy, allowingLoopback: Bool) {
        self.init(delivery, webhooks, allowingLoopback: allowingLoopback) {
            PublicURL.permits($0, allowingLoopback: allowingLoopback)
        }
    }

    /// - Parameter permits: which addresses are spoken to; asked of each before the connection, and of the peer after it.
    init(
        _ delivery: DeliveryPolicy, _ webhooks: WebhookPolicy, allowingLoopback: Bool,
        permits: @escaping @Sendable (IPAddress) -> Bool
    ) {
        var configuration = HTTPClient.Configuration.delivery(delivery)
        configuration.requirePeer(permits)
        self.configuration = configuration
        timeout = webhooks.attemptTimeout
        allowsLoopback = allowingLoopback
        self.permits = permits
    }

    /// Makes one attempt: 2xx is taken, 400 is refused for good (RFC 8935 §2.4), everything else is tried again.
    package func send(_ token: String, to text: String) async -> DeliveryOutcome {
        guard let url = PublicURL(text, allowingLoopback: allowsLoopback) else {
            return .refused(reason: "the webhook is no https URL of a public host")
        }
        var configuration = configuration
        let started = ContinuousClock.now
        switch await url.reach(within: timeout, permits: permits) {
        case .reachable(let address):
            if url.web.literal == nil { configuration.dnsOverride = [url.web.name: address.description] }
        case .unknown: return .unavailable(reason: "the webhook's host has no address")
        case .forbidden: return .refused(reason: "the webhook's host has an address that is not public")
        }
        let spent = (ContinuousClock.now - started) / .seconds(1)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let answer = await BoundedHTTPClient(http: http, timeout: max(1, timeout - spent)).post(
            Array(token.utf8), to: url.web,
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
}
