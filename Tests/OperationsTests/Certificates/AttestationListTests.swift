import Authority
import Database
import Delivery
import Domain
import Fixtures
import Foundation
import Repositories
import Synchronization
import Testing

@testable import Operations

@Suite("The list of revoked attestations")
struct AttestationListTests {
    private static let empty = Array(#"{"entries": {}}"#.utf8)

    private static var policy: Policy {
        var policy = Policy()
        policy.certification.gate = .attested
        return policy
    }

    private static func list(_ serial: String) -> [UInt8] {
        Array(#"{"entries": {"\#(serial)": {"status": "REVOKED"}}}"#.utf8)
    }

    private static func fetch(_ bench: AttestationBench, _ document: [UInt8]) async throws -> String? {
        try await RefreshAttestationStatus(bench.service) { .read(document) }()
    }

    @Test(
        "is fetched by one of several nodes, every hour, and five minutes after a failure", arguments: StoreKind.shared)
    func claims(kind: StoreKind) async throws {
        try await ServiceFixture.run(Self.policy, on: kind) { fixture in
            let calls = Mutex(0)
            let answer = Mutex(AttestationListReader.Reading.read(Self.empty))
            func refresh(_ service: Service) -> RefreshAttestationStatus {
                RefreshAttestationStatus(service) {
                    calls.withLock { $0 += 1 }
                    return answer.withLock { $0 }
                }
            }
            // Nobody needs it while no app of Android is registered.
            _ = try await refresh(fixture.context)()
            #expect(calls.withLock { $0 } == 0)
            let bench = try await AttestationBench(fixture, withList: false)
            for service in [bench.service, fixture.context] { _ = try await refresh(service)() }
            #expect(calls.withLock { $0 } == 1)
            fixture.clock.advance(3600)
            answer.withLock { $0 = .read(Array("<html></html>".utf8)) }
            #expect(try await refresh(bench.service)() != nil)
            #expect(try await refresh(bench.service)() == nil)
            #expect(calls.withLock { $0 } == 2)
            fixture.clock.advance(300)
            answer.withLock { $0 = .read(Self.empty) }
            #expect(try await refresh(bench.service)() == nil)
            #expect(calls.withLock { $0 } == 3)
            let times = try await fixture.store.read { try AttestationRepository($0).listTimes() }
            #expect(times?.readAt == fixture.clock.now && times?.failure == nil)
            #expect(times.map { $0.changedAt < $0.readAt } == true)
        }
    }

    /// The sentence of the refusal of an Android key; `nil` if it is certified.
    private static func refusal(_ bench: AttestationBench) async throws -> String? {
        // Nothing polls here.
        try await bench.service.invalidator.poll()
        do {
            _ = try await bench.certify(bench.androidRequest())
            return nil
        } catch let refusal as Refusal { return refusal.detail }
    }

    @Test("must be known and recent: otherwise Android keys get 503, and never the answer that they are not attested")
    func unknown() async throws {
        let unknown = Refusal.attestationStatusUnknown
        #expect(unknown.code == .unavailable)
        try await ServiceFixture.run(Self.policy) { fixture in
            let bench = try await AttestationBench(fixture, withList: false)
            #expect(try await Self.refusal(bench) == unknown.detail)
            // Apple has no such list.
            _ = try await bench.certify(bench.appleRequest())
            #expect(try await Self.fetch(bench, Self.empty) == nil)
            #expect(try await Self.refusal(bench) == nil)
            fixture.clock.advance(604_801)
            #expect(try await Self.refusal(bench) == unknown.detail)
        }
        var policy = Self.policy
        policy.certification.attestation.statusUnknown = .admit
        try await ServiceFixture.run(policy) { fixture in
            let bench = try await AttestationBench(fixture, withList: false)
            #expect(try await Self.refusal(bench) == nil)
        }
    }

    @Test("excludes chains that it names also when it is too old, if policy admits the others")
    func stale() async throws {
        var policy = Self.policy
        policy.certification.attestation.statusUnknown = .admit
        try await ServiceFixture.run(policy) { fixture in
            let bench = try await AttestationBench(fixture, withList: false)
            #expect(try await Self.fetch(bench, Self.list(AttestationBench.batchSerial)) == nil)
            fixture.clock.advance(604_801)
            #expect(try await Self.refusal(bench) == AttestationDefect.listed.rawValue)
        }
    }

    @Test("is compared with each device, also if it was stored while a comparison with the one before ran")
    func comparisons() async throws {
        try await ServiceFixture.run(Self.policy) { fixture in
            let bench = try await AttestationBench(fixture)
            _ = try await bench.certify(bench.androidRequest())
            let times = try await fixture.store.read { try AttestationRepository($0).listTimes() }
            let changedAt = try #require(times).changedAt
            fixture.clock.advance(10)
            let task = try #require(
                MaintenanceTask.all(of: fixture.context).first { $0.name == "distrusted_devices" })
            _ = try await fixture.context.maintain { transaction, events in
                try task.batch(transaction, MaintenanceBatch(), &events)
            }
            // The next list has a time between the two.
            let due = try await fixture.store.read { transaction in
                try [0, 5].map {
                    try AttestationRepository(transaction).listUnchecked(since: changedAt + $0, limit: 9).count
                }
            }
            #expect(due == [0, 1])
        }
    }

    @Test("excludes chains with a listed certificate, from the next fetch on")
    func listed() async throws {
        try await ServiceFixture.run(Self.policy) { fixture in
            let bench = try await AttestationBench(fixture)
            #expect(try await Self.refusal(bench) == nil)
            fixture.clock.advance(3600)
            #expect(try await Self.fetch(bench, Self.list(AttestationBench.batchSerial)) == nil)
            #expect(try await Self.refusal(bench) == AttestationDefect.listed.rawValue)
            fixture.clock.advance(3600)
            #expect(try await Self.fetch(bench, Self.empty) == nil)
            #expect(try await Self.refusal(bench) == nil)
        }
    }
}
