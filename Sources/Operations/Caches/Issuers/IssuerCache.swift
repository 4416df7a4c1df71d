import Domain
import Synchronization

/// The state of issuers in this process: the provider of each issuer and audience, when an issuer's keys were fetched,
/// and the fetches in progress.
final class IssuerCache: Sendable {
    /// A client of an issuer: the pair of issuer and audience.
    struct Client: Hashable, Sendable {
        let issuer: String
        let audience: String

        // Compared as bytes: texts that are equivalent in Unicode are different issuers.
        static func == (left: Client, right: Client) -> Bool {
            left.issuer.utf8.elementsEqual(right.issuer.utf8) && left.audience.utf8.elementsEqual(right.audience.utf8)
        }

        func hash(into hasher: inout Hasher) {
            for text in [issuer, audience] {
                for byte in text.utf8 { hasher.combine(byte) }
                hasher.combine(0 as UInt8)
            }
        }
    }

    /// The provider of each client. A pair moves to another provider only after a change of its former provider.
    let clients = InvalidatingCache<Client, ProviderID>()

    private struct State {
        var readings: [String: IssuerReading] = [:]
        var tries: [String: Task<IssuerReading, any Error>] = [:]
        var parties: [ProviderID: Set<String>] = [:]
    }

    private let state = Mutex(State())

    /// When an issuer's keys were fetched, as far as this process knows. Another process may have fetched them since.
    func reading(of issuer: String) -> IssuerReading? { state.withLock { $0.readings[issuer] } }

    func remember(_ reading: IssuerReading, of issuer: String) {
        state.withLock { $0.readings[issuer] = reading }
    }

    /// The maximum number of remembered parties for a provider.
    static let mostParties = 64

    /// Whether this process sees a party of a provider's ID tokens for the first time. Only a limited number is
    /// remembered.
    func isNew(_ party: String, of provider: ProviderID) -> Bool {
        state.withLock { state in
            guard state.parties[provider, default: []].count < Self.mostParties else { return false }
            return state.parties[provider, default: []].insert(party).inserted
        }
    }

    /// Whether this process is fetching an issuer's keys now.
    func isReading(_ issuer: String) -> Bool { state.withLock { $0.tries[issuer] != nil } }

    /// Fetches an issuer's keys, or waits for the fetch in progress.
    func read(
        _ issuer: String, by read: @escaping @Sendable () async throws -> IssuerReading
    ) async throws -> IssuerReading {
        let ongoing = state.withLock { state in
            if let ongoing = state.tries[issuer] { return ongoing }
            // Independent of the request, so that its cancellation does not affect other waiting requests.
            let task = Task.detached {
                defer { self.state.withLock { $0.tries[issuer] = nil } }
                return try await read()
            }
            state.tries[issuer] = task
            return task
        }
        return try await ongoing.value
    }

    /// Drops everything that may have changed in the store.
    func dropAll() {
        clients.drop { _ in true }
        state.withLock { $0.readings = [:] }
    }
}
