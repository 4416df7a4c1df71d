import Foundation
import HTTPTypes

/// A device of a Countersign service: it certifies itself, signs users in, and makes calls in their session.
///
/// Use one for each service. What it learns is kept in its store, so that the next start of the app goes on where this
/// one ended.
public actor Countersign {
    /// Gives an identity token that the user's provider made around a nonce.
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
    /// What the certificate in ``record`` is in handshakes.
    private var identity: Identity?
    /// By how much the service's clock is ahead of this device's, as of the last answer, seconds.
    private(set) var clockLead: TimeInterval = 0
    /// Whether an answer has said what time it is.
    private var hasTime = false

    /// Where identity tokens come from, once the app has signed in.
    var tokenSource: IdentityTokenSource?
    /// One for all calls that find the session challenged or over.
    var signingIn: Task<Result<Session, SignInFailure>, Never>?
    var certifying: Task<Result<Device, Refusal>, Never>?
    var renewingCertificate: Task<Void, Never>?
    /// Sleeps until the certificate is due.
    var certificateTimer: Task<Void, Never>?
    /// While a certificate is replaced, new requests wait for it.
    private var replacement: Task<Void, Never>?
    /// Requests to the client listener that have no answer yet.
    private var underWay = 0
    private var drained: CheckedContinuation<Void, Never>?
    /// Calls that have their turn, and those that wait for one.
    private var turns = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    var accessTokens: [String: AccessToken] = [:]
    /// Those that are on their way, by user and audience.
    var exchangingTokens: [String: Task<Result<AccessToken, Refusal>, Never>] = [:]

    /// Makes a client; nothing is read and nothing is sent before the first call.
    ///
    /// - Parameters:
    ///   - keys: where the device's private key is kept.
    ///   - store: where certificate and session are kept.
    ///   - presence: the key for proofs that the user is at the device, if the service asks for them.
    ///   - watch: is called after each exchange with the service, for logs.
    public init(
        _ service: Service, keys: any DeviceKeys = .platform, store: any SecretStore = .platform,
        presence: Presence? = nil, watch: (@Sendable (Exchange) -> Void)? = nil
    ) {
        self.init(
            service, keys: keys, store: store, presence: presence, watch: watch, localAddress: nil, now: { Date() })
    }

    /// As above, from an address of this machine and by a clock.
    package init(
        _ service: Service, keys: any DeviceKeys, store: any SecretStore, presence: Presence? = nil,
        watch: (@Sendable (Exchange) -> Void)? = nil, localAddress: String? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.service, self.keys, self.store, self.presence) = (service, keys, store, presence)
        (self.watch, self.localAddress, self.now) = (watch, localAddress, now)
    }

    deinit { certificateTimer?.cancel() }

    /// The present state and every later one, for any number of readers.
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

    /// Keeps a changed record; the store has it before anyone acts by it.
    func keep(_ changed: Record) throws(Refusal) {
        guard let bytes = try? JSONEncoder().encode(changed) else { throw .storage(.damaged) }
        do throws(StorageFailure) { try store.write(bytes) } catch { throw .storage(error) }
        adopt(changed)
    }

    /// Acts by a changed record, kept or not.
    func adopt(_ changed: Record) {
        if changed.session?.token != record.session?.token { accessTokens = [:] }
        record = changed
        publish()
    }

    /// Keeps a changed record, or goes on without: what was there before is worth nothing any more.
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

    /// The time of the service, as far as its answers say.
    var serviceTime: Date { now().addingTimeInterval(clockLead) }

    /// Uses the certificate of the record from now on, and shows it. The requests that are under way are answered
    /// first: the service refuses the old certificate as soon as it has seen the new one.
    func replaceIdentity() async throws(Refusal) {
        let transport = try load()
        guard let device = record.device else { throw .uncertified }
        let next = try Identity(device, keys: keys, base: transport.tls)
        while let replacement { await replacement.value }
        // It ends itself: whoever waits for it looks again at once.
        let task = Task {
            if underWay > 0 { await withCheckedContinuation { drained = $0 } }
            identity = next
            // Whatever the answer is, the certificate was seen.
            _ = try? await transport.send(Call(.post, "/nonces"), as: next)
            replacement = nil
        }
        replacement = task
        await task.value
    }

    /// One exchange with the client listener, repeated if that is safe.
    ///
    /// - Returns: the answer, and the serial number of the certificate that was shown.
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

    /// Waits until fewer than 64 calls are under way, so that what waits behind them has no deadline yet, and a renewal
    /// passes them all.
    func takeTurn() async {
        if turns < 64 { turns += 1 } else { await withCheckedContinuation { waiting.append($0) } }
    }

    /// Gives the turn to the next.
    func endTurn() {
        if waiting.isEmpty { turns -= 1 } else { waiting.removeFirst().resume() }
    }

    private func exchangeOnce(_ call: Call) async throws(Refusal) -> (answer: Answer, serial: String) {
        let transport = try load()
        while let replacement { await replacement.value }
        guard let identity, record.device != nil else { throw .uncertified }
        // One that waits is not waited for: it is asked again after a certificate was replaced.
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

    /// A device whose clock is wrong does not know that its certificate has expired: the service ends the handshake, and
    /// nothing says why. So it asks the public listener what time it is, once.
    private func requireUnexpired(after failure: Refusal, _ transport: Transport) async throws(Refusal) {
        guard case .unanswered = failure, !hasTime else { return }
        if let answer = try? await transport.send(Call(.head, "/"), as: nil) { note(answer) }
        guard let device = record.device?.device, serviceTime >= device.notAfter else { return }
        forgetCertificate(device.serial)
        throw .uncertified
    }

    /// Sets this device's clock against the service's.
    func note(_ answer: Answer) {
        guard let date = answer.date else { return }
        clockLead = date.timeIntervalSince(now())
        hasTime = true
    }

    private func pause(_ milliseconds: Int) async throws(Refusal) {
        do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch { throw .cancelled }
    }

    /// Forgets a certificate that the service does not accept any more, with the session that was bound to it.
    func forgetCertificate(_ serial: String) {
        guard record.device?.device.serial == serial else { return }
        keepIfPossible { $0 = Record() }
        identity = nil
    }

    /// How far this device's clock is off, if it is by more than a minute, which the service allows for.
    var wrongClock: Refusal? { clockLead.magnitude > 60 ? .clock(offBy: .seconds(-clockLead)) : nil }
}

extension Refusal {
    /// Whether a call may be made again after this failure.
    fileprivate func permitsRepetition(of call: Call) -> Bool {
        switch self {
        case .unreachable: true
        case .service(let problem): problem.isPassing
        case .unanswered: call.isRepeatable
        default: false
        }
    }
}
