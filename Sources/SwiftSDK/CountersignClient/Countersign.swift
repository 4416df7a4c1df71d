import Foundation
import HTTPTypes

/// A device of a Countersign service: it gets a certificate, signs users in, and makes calls in their session.
///
/// Use one for each service. Its state is kept in its store, so the app continues after a restart.
public actor Countersign {
    /// Returns an identity token from the user's provider for a nonce.
    public typealias IdentityTokenSource = @Sendable (Nonce) async throws -> String

    nonisolated let service: Service
    nonisolated let keys: any DeviceKeys
    nonisolated let presence: Presence?
    nonisolated let feed = StateFeed()
    let store: any SecretStore
    private let localAddress: String?
    private let watch: (@Sendable (Exchange) -> Void)?
    let now: @Sendable () -> Date

    var record = Record()
    private(set) var transport: Transport?
    /// The certificate and key of ``record`` for handshakes.
    private var identity: Identity?
    /// How far the service's clock is ahead of this device's, as of the last response, in seconds.
    private(set) var clockLead: TimeInterval = 0
    /// Whether a response has contained the service's time.
    private var hasTime = false

    /// The source of identity tokens, after the app has signed in.
    var tokenSource: IdentityTokenSource?
    /// The sign-in for all calls that found the session challenged or ended.
    var signingIn: Task<Result<Session, SignInFailure>, Never>?
    var certifying: Task<Result<Device, Refusal>, Never>?
    var renewingCertificate: Task<Void, Never>?
    /// Sleeps until the certificate must be renewed.
    var certificateTimer: Task<Void, Never>?
    /// While a certificate is replaced, new requests wait for this task.
    private var replacement: Task<Void, Never>?
    /// The number of pending requests to the client listener.
    private var underWay = 0
    private var drained: CheckedContinuation<Void, Never>?
    /// The numbers of calls with a turn and of calls that wait for one.
    private var turns = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    var accessTokens: [String: AccessToken] = [:]
    /// Pending exchanges, by user and audience.
    var exchangingTokens: [String: Task<Result<AccessToken, Refusal>, Never>] = [:]

    /// Makes a client. It reads and sends nothing before the first call.
    ///
    /// - Parameters:
    ///   - keys: stores the device's private key.
    ///   - store: stores certificate and session.
    ///   - presence: the key for proofs of the user's presence, if the service requires them.
    ///   - watch: called after each exchange with the service, for logs.
    ///   - localAddress: the address to connect from; `nil` for the system's choice.
    public init(
        _ service: Service, keys: any DeviceKeys = .platform, store: any SecretStore = .platform,
        presence: Presence? = nil, watch: (@Sendable (Exchange) -> Void)? = nil, localAddress: String? = nil
    ) {
        self.init(
            service, keys: keys, store: store, presence: presence, watch: watch, localAddress: localAddress,
            now: { Date() })
    }

    /// For tests: with a clock.
    init(
        _ service: Service, keys: any DeviceKeys, store: any SecretStore, presence: Presence? = nil,
        watch: (@Sendable (Exchange) -> Void)? = nil, localAddress: String? = nil,
        now: @escaping @Sendable () -> Date
    ) {
        (self.service, self.keys, self.store, self.presence) = (service, keys, store, presence)
        (self.watch, self.localAddress, self.now) = (watch, localAddress, now)
    }

    deinit { certificateTimer?.cancel() }

    /// The current state and every later one, for any number of readers.
    public nonisolated var states: AsyncStream<State> { feed.stream() }

    /// The device, if it is certified.
    public var device: Device? {
        get throws(Refusal) {
            try load()
            return record.device?.device
        }
    }

    /// The session, if a user is signed in.
    public var session: Session? {
        get throws(Refusal) {
            try load()
            return record.session?.session
        }
    }

    /// Reads the store at the first call.
    @discardableResult
    func load() throws(Refusal) -> Transport {
        if let transport { return transport }
        let feed = feed
        let opened = try Transport(
            service, localAddress: localAddress, watch: watch,
            connections: { change in feed.update { $0.connections += change } })
        try reload(over: opened)
        transport = opened
        scheduleCertificateRenewal()
        return opened
    }

    /// Reads the store again: another process of the app may have written it.
    func reload(over transport: Transport) throws(Refusal) {
        let bytes: Data?
        do throws(StorageFailure) { bytes = try store.read() } catch { throw .storage(error) }
        var found = Record()
        if let bytes {
            guard let kept = try? JSONDecoder().decode(Record.self, from: bytes) else { throw .storage(.damaged) }
            found = kept
        }
        if found.device != record.device || identity == nil {
            identity = nil
            if let device = found.device { identity = try Identity(device, keys: keys, base: transport.tls) }
        }
        record = found
        publish()
    }

    /// Stores a changed record before it is used.
    func keep(_ changed: Record) throws(Refusal) {
        guard let bytes = try? JSONEncoder().encode(changed) else { throw .storage(.damaged) }
        do throws(StorageFailure) { try store.write(bytes) } catch { throw .storage(error) }
        adopt(changed)
    }

    /// Uses a changed record, stored or not.
    func adopt(_ changed: Record) {
        if changed.session?.token != record.session?.token { accessTokens = [:] }
        record = changed
        publish()
    }

    /// Uses a changed record even if it cannot be stored, because the previous one is no longer valid.
    func keepIfPossible(_ change: (inout Record) -> Void) {
        var changed = record
        change(&changed)
        do throws(Refusal) { try keep(changed) } catch { adopt(changed) }
    }

    private func publish() {
        let session: State.Session =
            record.session.map { $0.isChallenged ? .challenged : .authenticated } ?? .unauthenticated
        let isCertified = record.device != nil
        feed.update { facts in
            facts.isCertified = isCertified
            facts.session = session
        }
    }

    /// The service's time, by its responses.
    var serviceTime: Date { now().addingTimeInterval(clockLead) }

    /// Uses the record's certificate from now on, and shows it to the service. Pending requests are finished first,
    /// because the service refuses the old certificate as soon as it has seen the new one.
    func replaceIdentity() async throws(Refusal) {
        let transport = try load()
        guard let device = record.device else { throw .uncertified }
        let next = try Identity(device, keys: keys, base: transport.tls)
        while let replacement { await replacement.value }
        // The task clears itself, so waiting callers check again at once.
        let task = Task {
            if underWay > 0 { await withCheckedContinuation { drained = $0 } }
            identity = next
            // Whatever the response, the service has seen the certificate.
            _ = try? await transport.send(Call(.post, "/nonces"), as: next)
            replacement = nil
        }
        replacement = task
        await task.value
    }

    /// One exchange with the client listener, repeated if that is safe.
    ///
    /// - Returns: the response, and the serial number of the certificate in use.
    func exchange(_ call: Call) async throws(Refusal) -> (answer: Answer, serial: String) {
        var attempt = 0
        while true {
            attempt += 1
            let failure: Refusal
            do throws(Refusal) {
                let (answer, serial) = try await exchangeOnce(call)
                guard attempt < 4, let problem = try answer.problem(), problem.isPassing else {
                    return (answer, serial)
                }
                failure = .service(problem)
            } catch {
                failure = error
            }
            guard attempt < 4, failure.permitsRepetition(of: call) else { throw failure }
            try await pause(failure.problem?.retryAfter.map { min($0, 2) * 1000 } ?? 100 << attempt)
        }
    }

    /// Waits until fewer than 64 calls are pending. The time limit of a waiting call has not started yet, and a renewal
    /// of the session goes first.
    func takeTurn() async {
        if turns < 64 { turns += 1 } else { await withCheckedContinuation { waiting.append($0) } }
    }

    func endTurn() {
        if waiting.isEmpty { turns -= 1 } else { waiting.removeFirst().resume() }
    }

    private func exchangeOnce(_ call: Call) async throws(Refusal) -> (answer: Answer, serial: String) {
        let transport = try load()
        while let replacement { await replacement.value }
        guard let identity, record.device != nil else { throw .uncertified }
        // A waiting call is not waited for: it is repeated after a certificate was replaced.
        let counts = call.wait == .zero
        if counts { underWay += 1 }
        defer {
            if counts { underWay -= 1 }
            if underWay == 0, let drained {
                self.drained = nil
                drained.resume()
            }
        }
        do throws(Refusal) {
            let answer = try await transport.send(call, as: identity)
            note(answer)
            return (answer, identity.serial)
        } catch {
            try await requireUnexpired(after: error, transport)
            throw error
        }
    }

    /// With a wrong clock a device does not know that its certificate has expired, and the service ends the handshake
    /// without a reason. So it requests the time from the public listener, once.
    private func requireUnexpired(after failure: Refusal, _ transport: Transport) async throws(Refusal) {
        guard case .unanswered = failure, !hasTime else { return }
        if let answer = try? await transport.send(Call(.head, "/"), as: nil) { note(answer) }
        guard let device = record.device?.device, serviceTime >= device.notAfter else { return }
        forgetCertificate(device.serial)
        throw .uncertified
    }

    /// Compares this device's clock with the service's.
    func note(_ answer: Answer) {
        guard let date = answer.date else { return }
        clockLead = date.timeIntervalSince(now())
        hasTime = true
    }

    private func pause(_ milliseconds: Int) async throws(Refusal) {
        do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch { throw .cancelled }
    }

    /// Deletes a certificate that the service does not accept any longer, with its session.
    func forgetCertificate(_ serial: String) {
        guard record.device?.device.serial == serial else { return }
        keepIfPossible { $0 = Record() }
        identity = nil
    }

    /// The error of this device's clock, if it exceeds the minute that the service tolerates.
    var wrongClock: Refusal? { clockLead.magnitude > 60 ? .clock(offBy: .seconds(-clockLead)) : nil }
}

extension Refusal {
    /// Whether a call may be repeated after this failure.
    fileprivate func permitsRepetition(of call: Call) -> Bool {
        switch self {
        case .unreachable: true
        case .service(let problem): problem.isPassing
        case .unanswered: call.isRepeatable
        default: false
        }
    }
}
