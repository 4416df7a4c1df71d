import Domain
import Encoding
import HTTPTypes
import NIOCore
import Operations
import ServiceLifecycle
import Synchronization

/// The carrier of responses, one at a time: a connection of HTTP/1.1, a stream of HTTP/2, a call of Herald.
///
/// It has what a request needs in addition to its task: the claim of its response, and its wait for a change. Both are
/// released when the client is gone, whatever the request is doing.
final class ResponseCarrier: Sendable {
    /// The carrier of the current task's request. Each protocol sets it by ``carrying(_:)``.
    @TaskLocal static var current: ResponseCarrier?

    private struct State {
        /// The client has closed its side or the connection, so it waits for nothing.
        var isLeft = false
        var isClosed = false
        var certificate: Digest256?
        /// The peer's address as the key for limits.
        var address: String?
        var user: UserID?
        /// The provider that proved itself.
        var provider: ProviderID?
        /// Whom the request concerns, for its log line.
        var parties = RequestParties()
        var claim: ResponseClaim?
        /// The claims of completed responses that have not been written, in order; `nil` for one without a claim.
        var made = CircularBuffer<ResponseClaim?>(initialCapacity: 2)
        /// Whether the response is a buffer that many responses share.
        var isShared = false
        var wait: AsyncStream<Never>.Continuation?
    }

    private let state = Mutex(State())
    private let hasUndeclaredBody = Atomic<Bool>(false)
    private let accounts: ResponseAccounts
    private let connection: ObjectIdentifier

    /// - Parameter channel: the connection's, also for a stream or a call.
    init(_ accounts: ResponseAccounts, on channel: any Channel) {
        (self.accounts, connection) = (accounts, ObjectIdentifier(channel))
    }

    /// Sets the peer, against whose limits the response is counted.
    func identify(_ certificate: Digest256?, at address: String) {
        state.withLock { ($0.certificate, $0.address) = (certificate, address) }
    }

    /// Sets the request's user, against whose limit the response is counted.
    func act(for user: UserID) { state.withLock { $0.user = user } }

    /// Runs the work of requests whose responses are carried here, and notes the proven parties of each for its log line,
    /// even if it is refused.
    func carrying<T>(_ body: () async throws -> T) async rethrows -> T {
        try await Self.$current.withValue(self) {
            try await Operations.Service.hearingParties({ [self] in note($0, $1) }, during: body)
        }
    }

    /// Sets the provider that proved itself, against whose limit the response is counted instead of its address's.
    func act(for provider: ProviderID) { state.withLock { $0.provider = provider } }

    /// Notes a proven party of the request. The first proof decides; a later one may add the provider's app.
    private func note(_ provider: ProviderID, _ app: ApplicationID?) {
        state.withLock { state in
            guard state.parties.provider.map({ $0 == provider }) ?? true else { return }
            state.parties.provider = provider
            state.parties.app = state.parties.app ?? app
        }
    }

    var parties: RequestParties { state.withLock { $0.parties } }

    /// Marks the response as a shared buffer: another reader costs almost no memory.
    func share() { state.withLock { $0.isShared = true } }

    // MARK: The claim

    /// Claims the bytes of a large response before it is made. Waits while the connection has other large ones.
    ///
    /// - Throws: `Refusal` `rate_limited` or `unavailable`; ``ClientGone``.
    func reserve(upTo bytes: Int) async throws { try await claim(bytes, at: .planned) }

    /// Claims the bytes of a body that arrives, until its response is claimed or the request ends. It never waits: its
    /// bytes may be here already.
    ///
    /// - Throws: as ``reserve(upTo:)``.
    func hold(_ bytes: Int) async throws { try await claim(bytes, at: .made) }

    /// The request has a body whose length its head does not say. Only HTTP/2 sets this: HTTP/1.1 has a field for it.
    func expectUndeclaredBody() { hasUndeclaredBody.store(true, ordering: .relaxed) }

    var isUndeclared: Bool { hasUndeclaredBody.load(ordering: .relaxed) }

    private func claim(_ bytes: Int, at stage: ResponseAccounts.Budget.Stage) async throws {
        let owner = state.withLock { state in
            ResponseAccounts.Budget.Owner(
                connection: connection, certificate: state.certificate, user: state.user, provider: state.provider,
                address: state.address)
        }
        let claim = accounts.claim(bytes, for: owner, at: stage)
        let (former, isKept) = state.withLock { state in
            let former = state.claim
            state.claim = state.isClosed ? nil : claim
            return (former, !state.isClosed)
        }
        former?.end()
        guard isKept else {
            claim.end()
            throw ClientGone()
        }
        do {
            try await claim.granted()
        } catch {
            drop()
            throw error
        }
    }

    /// Sets the size of the completed response; `nil` if it is not known. A response without a claim is claimed now,
    /// unless it is small or shared. It is in memory already, so it is counted at once.
    ///
    /// - Parameter isCommitted: whether the response reports a change that is stored already. Up to
    ///   ``ResponseAccounts/largestCommitted`` it is not refused.
    /// - Throws: as ``reserve(upTo:)``.
    func settle(at bytes: Int?, isCommitted: Bool = false) async throws {
        let (claim, isShared) = state.withLock { ($0.claim, $0.isShared) }
        guard let bytes else { return }
        if isShared || bytes <= accounts.unclaimed { return drop() }
        guard let claim else {
            let isKept = isCommitted && bytes <= ResponseAccounts.largestCommitted
            return try await self.claim(bytes, at: isKept ? .committed : .made)
        }
        claim.settle(at: bytes)
    }

    /// Ends the claim of a response that a problem document replaces.
    func drop() {
        let claim = state.withLock { state in
            defer { (state.claim, state.isShared) = (nil, false) }
            return state.claim
        }
        claim?.end()
    }

    /// Records that the response will be written. A connection may begin the next one before that.
    func finish() {
        state.withLock { state in
            state.made.append(state.claim)
            (state.claim, state.isShared, state.user, state.provider) = (nil, false, nil, nil)
            state.parties = RequestParties()
        }
    }

    /// Takes the claim of the response that is written now. The caller ends it.
    func take() -> ResponseClaim? { state.withLock { $0.made.popFirst() ?? nil } }

    // MARK: The client's departure

    /// Ends waiting, because the client has closed its side.
    func leave() {
        let wait = state.withLock { state in
            state.isLeft = true
            return state.wait
        }
        wait?.finish()
    }

    /// Ends all claims and waiting: no response will be read.
    func close() {
        let made = state.withLock { state in
            state.isClosed = true
            defer { state.made = [] }
            return state.made
        }
        leave()
        drop()
        for claim in made { claim?.end() }
    }

    /// Runs a body that waits for a change. It is cancelled when the client is gone or the service stops, and then
    /// returns what it has. Every route that waits uses this.
    func whileAwaited<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        let (departure, sender) = AsyncStream.makeStream(of: Never.self)
        let isLeft = state.withLock { state in
            state.wait = sender
            return state.isLeft
        }
        if isLeft { sender.finish() }
        defer { state.withLock { $0.wait = nil } }
        return try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask { try await cancelWhenGracefulShutdown(body) }
            group.addTask {
                for await _ in departure {}
                return nil
            }
            while let end = try await group.next() {
                group.cancelAll()
                if let end { return end }
            }
            throw ClientGone()
        }
    }
}

/// The client did not wait for the response: it closed the connection, reset the stream, or missed a deadline.
struct ClientGone: Error {
    /// The status in metrics and logs. It is not registered with IANA, but operators know it from nginx.
    static let status = HTTPResponse.Status(code: 499, reasonPhrase: "Client Closed Request")
}
