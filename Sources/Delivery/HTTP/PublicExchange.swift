import AsyncHTTPClient
import Encoding
import Foundation

/// An exchange with a URL that a provider names, which must not lead to this service or its network.
///
/// Every address of the host must be permitted, and the connection goes to a checked address even if the name resolves
/// to another later. The peer's address is checked again before the request is sent.
struct PublicExchange: Sendable {
    /// Must be made with `AsyncHTTPClient/HTTPClient/Configuration/delivery(_:)`.
    let configuration: HTTPClient.Configuration
    /// From the look-up of the host to the last byte of the response, seconds.
    let timeout: TimeInterval
    let resolver: HostResolver
    let permits: @Sendable (IPAddress) -> Bool

    init(
        _ configuration: HTTPClient.Configuration, timeout: TimeInterval, resolver: HostResolver = .shared,
        permits: @escaping @Sendable (IPAddress) -> Bool
    ) {
        var configuration = configuration
        configuration.requirePeer(permits)
        self.configuration = configuration
        self.timeout = timeout
        self.resolver = resolver
        self.permits = permits
    }

    enum Outcome<Answer: Sendable>: Sendable {
        case exchanged(Answer)
        /// The host cannot be resolved now.
        case unknownHost
        /// At least one address of the host is not permitted.
        case forbidden
    }

    /// Resolves the host and makes the exchange with a client that connects to no other address.
    ///
    /// - Parameter owner: the party that names the URL.
    func callAsFunction<Answer: Sendable>(
        with url: PublicURL, of owner: HostOwner, _ ask: (BoundedHTTPClient) async -> Answer
    ) async -> Outcome<Answer> {
        var configuration = configuration
        let started = ContinuousClock.now
        switch await url.reach(of: owner, within: timeout, by: resolver, permits: permits) {
        case .reachable(let address):
            if url.web.literal == nil { configuration.dnsOverride = [url.web.name: address.description] }
        case .unknown: return .unknownHost
        case .forbidden: return .forbidden
        }
        let spent = (ContinuousClock.now - started) / .seconds(1)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let answer = await ask(BoundedHTTPClient(http: http, timeout: max(1, timeout - spent)))
        try? await http.shutdown()
        return .exchanged(answer)
    }
}
