import Domain
import Synchronization

/// What this process knows of issuers: which provider has an issuer and an audience, when an issuer's keys were read, and
/// who is reading them now.
final class IssuerCache: Sendable {
    /// An issuer and an audience.
    struct Client: Hashable, Sendable {
        let issuer: String
        let audience: String

        // As bytes: texts that Unicode calls equivalent are those of two issuers.
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

    /// The provider of each client. A pair goes to another provider only after a change of the one that it had.
    let clients = InvalidatingCache<Client, ProviderID>()

    private struct State {
        var readings: [String: IssuerReading] = [:]
        var tries: [String: Task<IssuerReading, any Error>] = [:]
        var parties: [ProviderID: Set<String>] = [:]
    }

    private let state = Mutex(State())

    /// When an issuer's keys were read, as far as this process knows: another may have read them since.
    func reading(of issuer: String) -> IssuerReading? { state.withLock { $0.readings[issuer] } }

    func remember(_ reading: IssuerReading, of issuer: String) {
        state.withLock { $0.readings[issuer] = reading }
    }

    /// The most parties of a provider that this process remembers.
    static let mostParties = 64

    /// Whether this process sees a party of a provider's ID tokens for the first time. It looks at a bounded number.
    func isNew(_ party: String, of provider: ProviderID) -> Bool {
        state.withLock { state in
            guard state.parties[provider, default: []].count < Self.mostParties else { return false }
            return state.parties[provider, default: []].insert(party).inserted
        }
    }

    /// Whether this process is reading an issuer now.
    func isReading(_ issuer: String) -> Bool { state.withLock { $0.tries[issuer] != nil } }

    /// Reads an issuer, or waits for who is reading it now: one at a time.
    func read(
        _ issuer: String, by read: @escaping @Sendable () async throws -> IssuerReading
    ) async throws -> IssuerReading {
        let ongoing = state.withLock { state in
            if let ongoing = state.tries[issuer] { return ongoing }
            // Of nobody's request: who gives up takes it from no other.
            let task = Task.detached {
                defer { self.state.withLock { $0.tries[issuer] = nil } }
                return try await read()
            }
            state.tries[issuer] = task
            return task
        }
        return try await ongoing.value
    }

    /// Forgets everything that the store may say otherwise.
    func dropAll() {
        clients.drop { _ in true }
        state.withLock { $0.readings = [:] }
    }
}
