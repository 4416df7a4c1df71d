import Domain
import Fixtures
import Foundation
import Herald
import NIOCore
import NIOEmbedded
import Testing

@testable import API

extension ResponseAccounts {
    /// One that refuses nobody, and lets everybody go on at once.
    static var roomy: ResponseAccounts {
        ResponseAccounts(.limits(connection: .max))
    }

    /// One whose connections have one response at a time.
    ///
    /// - Parameter unclaimed: how many bytes are claimed by nobody.
    static func strict(unclaimed: Int) -> ResponseAccounts {
        ResponseAccounts(.limits(connection: 1), unclaimed: unclaimed)
    }
}

extension ResponseBudget.Limits {
    /// Limits of which most are out of reach.
    static func limits(
        connection: Int = .max, certificate: Int = .max, user: Int = .max, provider: Int = .max,
        networks: NetworkLimits = .none, total: Int = .max
    ) -> Self {
        Self(
            connection: connection, certificate: certificate, user: user, provider: provider, networks: networks,
            total: total)
    }
}

/// Waits until something is so, which must be soon.
func until(_ what: String, _ isSo: () -> Bool) async throws {
    for _ in 0..<60000 where !isSo() { try await Task.sleep(for: .milliseconds(2)) }
    #expect(isSo(), "\(what)")
}

@Suite("What carries a response", .timeLimit(.minutes(5)))
struct ResponseCarrierTests {
    private let channel = NIOAsyncTestingChannel()

    @Test("holds a claim until the response is taken, and gives up one that turns out small, shared or a problem")
    func claims() async throws {
        let accounts = ResponseAccounts.strict(unclaimed: 10)
        let carrier = ResponseCarrier(accounts, on: channel)
        try await carrier.reserve(upTo: 100)
        try await carrier.settle(at: 50)
        #expect(accounts.claimed == 50)
        carrier.finish()
        // The next one is made before this one is written.
        try await carrier.settle(at: 0)
        carrier.finish()
        let claim = try #require(carrier.take())
        #expect(carrier.take() == nil && accounts.claimed == 50)
        claim.end()
        for size in [10, 0] {
            try await carrier.reserve(upTo: 100)
            try await carrier.settle(at: size)
            #expect(accounts.claimed == 0)
        }
        try await carrier.reserve(upTo: 100)
        carrier.drop()
        carrier.share()
        try await carrier.settle(at: 1000)
        #expect(accounts.claimed == 0)
        // What nobody has claimed before is claimed when it is made.
        try await carrier.settle(at: 1000)
        #expect(accounts.claimed == 1000)
        carrier.finish()
        carrier.close()
        #expect(accounts.claimed == 0)
        await #expect(throws: ClientGone.self) { try await carrier.reserve(upTo: 1) }
        #expect(accounts.claimed == 0)
    }

    @Test("refuses who reads nothing, by certificate and by user with 429, and in all with 503")
    func refusals() async throws {
        let accounts = ResponseAccounts(.limits(user: 10, total: 20))
        let user = UserID(UUID())
        let carriers = (0..<4).map { _ in ResponseCarrier(accounts, on: NIOAsyncTestingChannel()) }
        for carrier in carriers.prefix(2) { carrier.act(for: user) }
        try await carriers[0].reserve(upTo: 10)
        await #expect(throws: Refusal(.rateLimited, "")) { try await carriers[1].reserve(upTo: 1) }
        try await carriers[2].reserve(upTo: 10)
        await #expect(throws: Refusal(.unavailable, "")) { try await carriers[3].reserve(upTo: 1) }
        for carrier in carriers { carrier.close() }
        #expect(accounts.claimed == 0)
    }

    @Test("refuses a provider by its own limit, an address by that of its networks, and nobody who changed something")
    func owners() async throws {
        let accounts = ResponseAccounts(
            .limits(provider: 10, networks: NetworkLimits(perAddress: 10, per56: 20, per48: 30), total: 60),
            unclaimed: 0)
        let provider = ProviderID(UUID())
        var carriers: [ResponseCarrier] = []
        func carrier(of provider: ProviderID? = nil, at address: String = "192.0.2.1") -> ResponseCarrier {
            let carrier = ResponseCarrier(accounts, on: NIOAsyncTestingChannel())
            carrier.identify(nil, at: address)
            if let provider { carrier.act(for: provider) }
            carriers.append(carrier)
            return carrier
        }
        try await carrier(of: provider).settle(at: 10)
        await #expect(throws: Refusal(.rateLimited, "")) { try await carrier(of: provider).settle(at: 1) }
        await #expect(throws: Refusal(.rateLimited, "")) { try await carrier(of: provider).reserve(upTo: 1) }
        // A backend's address is counted for others only.
        try await carrier().settle(at: 10)
        await #expect(throws: Refusal(.rateLimited, "")) { try await carrier().settle(at: 1) }
        for network in ["0.0", "0.1", "1.0"] {
            try await carrier(at: "32.1.13.184.0.1.\(network)/64").settle(at: 10)
        }
        for network in ["0.2", "2.0"] {
            await #expect(throws: Refusal(.rateLimited, ""), "\(network)") {
                try await carrier(at: "32.1.13.184.0.1.\(network)/64").settle(at: 1)
            }
        }
        #expect(accounts.claimed == 50)
        try await carrier(of: provider).settle(at: 20, isCommitted: true)
        #expect(accounts.claimed == 70)
        await #expect(throws: Refusal(.rateLimited, "")) {
            try await carrier(of: provider).settle(at: ResponseAccounts.largestCommitted + 1, isCommitted: true)
        }
        await #expect(throws: Refusal(.unavailable, "")) { try await carrier(at: "192.0.2.2").settle(at: 1) }
        // The next request of a connection may be of another caller.
        let next = carriers[0]
        next.finish()
        next.take()?.end()
        await #expect(throws: Refusal(.rateLimited, "")) { try await next.settle(at: 1) }
        for carrier in carriers { carrier.close() }
        #expect(accounts.claimed == 0)
    }

    @Test("counts a response that is made already at once, whatever its connection has")
    func made() async throws {
        let accounts = ResponseAccounts(.limits(connection: 10, total: 40), unclaimed: 0)
        let carriers = (0..<5).map { _ in ResponseCarrier(accounts, on: channel) }
        for carrier in carriers.prefix(4) { try await carrier.settle(at: 10) }
        #expect(accounts.claimed == 40 && accounts.waiting == 0)
        await #expect(throws: Refusal(.unavailable, "")) { try await carriers[4].settle(at: 1) }
        carriers[0].close()
        try await carriers[4].reserve(upTo: 10)
        for carrier in carriers { carrier.close() }
        #expect(accounts.claimed == 0)
    }

    @Test("counts each provider that proves itself, in every place where one does")
    func providers() throws {
        for file in try SourceFile.all(below: "Sources/API") {
            let proofs = ["authenticateProvider(", "freshProof(", "issueProviderAccessToken("]
            let isProof = proofs.contains { file.text.contains("service.\($0)") || file.text.contains("await \($0)") }
            guard isProof, file.name != "SharedSignalsRoutes.swift" else { continue }
            #expect(file.text.contains(".act(for: "), "\(file.name)")
            #expect(!file.text.contains("note(RequestParties(provider:"), "\(file.name)")
        }
    }

    @Test("gives up its turn when the client is gone")
    func turn() async throws {
        let accounts = ResponseAccounts.strict(unclaimed: 0)
        let (first, second) = (ResponseCarrier(accounts, on: channel), ResponseCarrier(accounts, on: channel))
        try await first.reserve(upTo: 5)
        let waiting = Task { try await second.reserve(upTo: 5) }
        try await until("nobody waits for a turn") { accounts.waiting == 1 }
        second.close()
        await #expect(throws: ClientGone.self) { try await waiting.value }
        #expect(accounts.waiting == 0 && accounts.claimed == 5)
        let third = ResponseCarrier(accounts, on: channel)
        let cancelled = Task { try await third.reserve(upTo: 5) }
        try await until("nobody waits for a turn") { accounts.waiting == 1 }
        cancelled.cancel()
        await #expect(throws: ClientGone.self) { try await cancelled.value }
        first.close()
        #expect(accounts.waiting == 0 && accounts.claimed == 0)
    }

    @Test("ends a wait when the client leaves, at once if it has left, and with its task")
    func waits() async throws {
        /// Waits for nothing but its own end.
        @Sendable func forever() async -> String {
            let (never, sender) = AsyncStream.makeStream(of: Never.self)
            for await _ in never {}
            withExtendedLifetime(sender) {}
            return "what there was"
        }
        for ends in 0..<4 {
            let carrier = ResponseCarrier(.roomy, on: channel)
            if ends == 0 { carrier.leave() }
            let answer = Task { try await carrier.whileAwaited { await forever() } }
            switch ends {
            case 1: carrier.leave()
            case 2: carrier.close()
            case 3: answer.cancel()
            default: break
            }
            #expect(try await answer.value == "what there was")
        }
    }

    @Test("of a call of Herald is closed with the call's channel, and leaves other channels alone")
    func herald() async throws {
        let accounts = ResponseAccounts.roomy
        var calls = HeraldCallQueue()
        for channel in 1...2 as ClosedRange<UInt8> {
            calls.add(.init(channel: channel, instance: UInt64(channel), payload: []))
        }
        let running = calls.start { ResponseCarrier(accounts, on: channel) }
        for one in running { try await one.carrier.reserve(upTo: 7) }
        #expect(accounts.claimed == 14)
        calls.drop(1)
        #expect(accounts.claimed == 7)
        calls.dropAll()
        #expect(accounts.claimed == 0)
        // They still run, and end by themselves.
        #expect(!calls.isEmpty)
        for one in running { calls.end(one.call) }
        #expect(calls.isEmpty)
    }

    @Test("of a call of Herald is held until the answer's last frame has left")
    func heraldOutput() async throws {
        let accounts = ResponseAccounts.roomy
        let output = HeraldOutput()
        output.begin(InitialFrame(frameSize: 16_384))
        for _ in 0..<2 {
            let carrier = ResponseCarrier(accounts, on: channel)
            try await carrier.reserve(upTo: 70_000)
            carrier.finish()
            output.write([UInt8](repeating: 1, count: 70_000), on: 3, carrier.take())
        }
        #expect(accounts.claimed == 140_000)
        output.drop(4)
        #expect(accounts.claimed == 140_000)
        output.drop(3)
        #expect(accounts.claimed == 0 && output.isEmpty)
    }

    @Test("is what every face carries responses by, and the one place where requests wait")
    func onePlace() throws {
        let files = try SourceFile.all(below: "Sources/API")
        let faces = files.filter {
            $0.text.contains("handleHTTP(") || $0.text.contains("http1.handle(value:")
                || $0.text.contains("calls.answer(")
        }
        #expect(Set(faces.map(\.name)) == ["HTTP1Connection.swift", "HTTP2Connection.swift", "HeraldConnection.swift"])
        for face in faces { #expect(face.text.contains(".carrying {"), "\(face.name)") }
        #expect(
            files.filter { $0.text.contains("cancelWhenGracefulShutdown") }.map(\.name) == ["ResponseCarrier.swift"])
        func count(_ text: String, in files: [SourceFile]) -> Int {
            files.reduce(0) { $0 + $1.text.components(separatedBy: text).count - 1 }
        }
        // A route that waits, or makes a large response, is in the tables of the tests of all of them.
        #expect(count(".whileAwaited", in: files) == WaitingRouteTests.routes.count)
        #expect(
            count(".reserve(upTo:", in: files.filter { $0.path.hasPrefix("Routes/") })
                == UnreadResponseTests.routes.count)
        let operations = try SourceFile.all(below: "Sources/Operations")
        #expect(count("place.wait(", in: operations) == WaitingRouteTests.routes.count)
    }
}
