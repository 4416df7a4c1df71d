import Domain
import Encoding
import HTTPTypes
import NIOCore
import ServiceLifecycle
import Synchronization

/// What carries one response at a time: a connection of HTTP/1.1, a stream of HTTP/2, a call of Herald.
///
/// It holds what a request has beside its own task: the claim of its response, and its wait for something to happen.
/// Both are released when the client is gone, whatever the request does at that moment.
final class ResponseCarrier: Sendable {
    /// That of the request on which the present task works. Each face sets it.
    @TaskLocal static var current: ResponseCarrier?

    private struct State {
        /// The client has closed its side, or all: it waits for nothing.
        var isLeft = false
        var isClosed = false
        var certificate: Digest256?
        var user: UserID?
        /// Of the response that is being made.
        var claim: ResponseClaim?
        /// Those of responses that were made and are about to be written, in order; `nil` for one without a claim.
        var made = CircularBuffer<ResponseClaim?>()
        /// Whether the response is one buffer for everybody.
        var isShared = false
        var wait: AsyncStream<Never>.Continuation?
    }

    private let state = Mutex(State())
    private let accounts: ResponseAccounts
    private let connection: ObjectIdentifier

    /// - Parameter channel: the connection's, also for a stream or a call.
    init(_ accounts: ResponseAccounts, on channel: any Channel) {
        (self.accounts, connection) = (accounts, ObjectIdentifier(channel))
    }

    /// Names the certificate that came with the request: the response counts for it.
    func identify(_ certificate: Digest256?) { state.withLock { $0.certificate = certificate } }

    /// Names the user for whom the request acts: the response counts for that user.
    func act(for user: UserID) { state.withLock { $0.user = user } }

    /// The response is one buffer for everybody: a reader more costs next to nothing.
    func share() { state.withLock { $0.isShared = true } }

    // MARK: The claim

    /// Claims the bytes of a large response before it is made; waits while the connection has other large ones.
    ///
    /// - Throws: `Refusal` `rate_limited` or `unavailable`; ``ClientGone``.
    func reserve(upTo bytes: Int) async throws {
        let (certificate, user) = state.withLock { ($0.certificate, $0.user) }
        let claim = accounts.claim(
            bytes, for: .init(connection: connection, certificate: certificate, user: user))
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

    /// The response is made, and has so many bytes; `nil` where that is not known. A large one that nobody has claimed
    /// is claimed now.
    ///
    /// - Throws: as ``reserve(upTo:)``.
    func settle(at bytes: Int?) async throws {
        let (claim, isShared) = state.withLock { ($0.claim, $0.isShared) }
        guard let bytes else { return }
        if isShared || bytes <= accounts.unclaimed { return drop() }
        guard let claim else { return try await reserve(upTo: bytes) }
        claim.settle(at: bytes)
    }

    /// There is no such response: a problem takes its place.
    func drop() {
        let claim = state.withLock { state in
            defer { (state.claim, state.isShared) = (nil, false) }
            return state.claim
        }
        claim?.end()
    }

    /// The response is about to be written. A connection may begin the next one before that has happened.
    func finish() {
        state.withLock { state in
            state.made.append(state.claim)
            (state.claim, state.isShared, state.user) = (nil, false, nil)
        }
    }

    /// A response is written now; who writes it ends its claim.
    func take() -> ResponseClaim? { state.withLock { $0.made.popFirst() ?? nil } }

    // MARK: The client's departure

    /// The client has closed its side: what waits for something to happen is answered at once.
    func leave() {
        let wait = state.withLock { state in
            state.isLeft = true
            return state.wait
        }
        wait?.finish()
    }

    /// Nobody reads a response any more.
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

    /// Does what waits for something to happen. It is cancelled when the client is gone and when the service stops; then
    /// it says what there is at that moment. Every route that waits does so here.
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
