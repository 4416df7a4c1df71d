import CountersignClient
import Fixtures
import Foundation
import Synchronization
import Testing

/// The service refuses the old certificate of a device as soon as it has seen the new one.
@Suite("Renewal of a certificate under calls")
struct CertificateRenewalTests {
    private static func service(validity: Int) async throws -> LiveService {
        try await LiveService(policies: ["certification.yaml": "validity: \(validity)s\nrenewals_per_day: 100\n"])
    }

    /// The service through a relay.
    private static func relayed(_ service: LiveService, _ relay: Relay) throws -> Service {
        var named = service.service()
        named.clientURL = try #require(URL(string: "https://127.0.0.1:\(relay.port)"))
        return named
    }

    @Test("comes by itself and once: no call is lost, and the old certificate is used no more")
    func load() async throws {
        let service = try await Self.service(validity: 15)
        let app = try App(service.service())
        let first = try await app.client.certify()
        let session = try await app.client.signIn(service.source("alice"))
        let failures = Sentences()
        let isOver = Flag()
        let calls = Counter()
        let renewals = try await withThrowingTaskGroup(of: Void.self) { group in
            // The callers end with the test, however it ends.
            defer { isOver.set() }
            for _ in 0..<16 {
                group.addTask {
                    while !isOver.isSet {
                        do throws(Refusal) {
                            try await app.client.act()
                            calls.add()
                        } catch {
                            failures.add("\(error)")
                        }
                        // Enough calls are under way at any time, and processors are left for other tests.
                        try await Task.sleep(for: .milliseconds(50))
                    }
                }
            }
            try await eventually { try await app.client.device?.serial != first.serial }
            let renewals = app.count("/certificates/renewal")
            // Until calls can rest on the second certificate alone.
            let before = calls.count
            try await eventually {
                Date() > first.notAfter.addingTimeInterval(1) && calls.count > before + 100
            }
            isOver.set()
            try await group.waitForAll()
            return renewals
        }
        #expect(failures.all.isEmpty, "\(failures.all.prefix(3))")
        #expect(renewals == 1)
        #expect(app.exchanges.allSatisfy { $0.status != 403 })
        #expect(try await app.client.device?.id == first.id)
        #expect(try await app.client.session?.id == session.id && app.count("/sessions", status: 201) == 1)
    }

    @Test("waits for the call that is under way, and what comes after it waits for the new certificate")
    func underWay() async throws {
        let service = try await Self.service(validity: 30)
        let relay = try await Relay(to: service.clientURL.port ?? 0)
        let (early, late) = (Pending(), Pending())
        let held = Flag()
        let own = Mutex<App?>(nil)
        defer { own.withLock { $0 = nil } }
        let app = try App(try Self.relayed(service, relay)) { exchange in
            guard exchange.path == "/certificates/renewal", exchange.status == 201, !held.isSet else { return }
            // The client learns of its new certificate when this returns: a call is under way by then.
            relay.hold()
            let app = own.withLock { $0 }
            early.start { _ = try await app?.client.profile() }
            for _ in 0..<12000 where !relay.isHolding { Thread.sleep(forTimeInterval: 0.01) }
            held.set()
        }
        own.withLock { $0 = app }
        let first = try await app.client.certify()
        try await app.client.signIn(service.source("alice"))
        try await eventually { held.isSet }
        try await eventually { try await app.client.device?.serial != first.serial }
        late.start { try await app.client.act() }
        // A client that does not wait shows the new certificate now; one that does, waits here for three seconds.
        for _ in 0..<12000 where app.exchanges.last?.path == "/certificates/renewal" {
            try await Task.sleep(for: .milliseconds(10))
        }
        relay.release()
        try await early.value()
        try await late.value()
        let after = app.exchanges.drop { $0.path != "/certificates/renewal" }
        #expect(after.dropFirst().prefix(3).map(\.path) == ["/me", "/nonces", "/sessions/current"])
        #expect(after.allSatisfy { $0.status != 403 }, "\(after)")
    }
}

/// A call that a test started, and its end.
private final class Pending: Sendable {
    private let task = Mutex<Task<Void, any Error>?>(nil)

    func start(_ body: @escaping @Sendable () async throws -> Void) {
        task.withLock { $0 = Task { try await body() } }
    }

    func value() async throws {
        guard let task = task.withLock({ $0 }) else { throw LiveService.Missing(what: "a call") }
        try await task.value
    }
}
