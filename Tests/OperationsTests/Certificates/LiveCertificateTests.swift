import Authority
import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Synchronization
import Testing

@testable import Operations

/// A store of which one read can be held back: it has seen the store, and nobody has its answer yet.
private final class GatedStore: Database {
    /// Opened once; whoever came before that has waited.
    final class Gate: Sendable {
        private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

        func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }

        func pass() async {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        }
    }

    let held = Gate()
    let release = Gate()
    private let store: any Database
    /// How many reads come before the one that is held; negative where none is.
    private let before = Mutex(-1)
    private let preceding = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(_ store: any Database) { self.store = store }

    func holdRead(after count: Int) { before.withLock { $0 = count } }

    /// Happens before the next write begins.
    func precede(_ act: @escaping @Sendable () async throws -> Void) { preceding.withLock { $0 = act } }

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        let isHeld = before.withLock { before in
            guard before >= 0 else { return false }
            before -= 1
            return before < 0
        }
        let result = try await store.read(body)
        if isHeld {
            held.open()
            await release.pass()
        }
        return result
    }

    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        let act = preceding.withLock { act in
            defer { act = nil }
            return act
        }
        try await act?()
        return try await store.write(body)
    }

    func changePosition() async throws -> ChangePosition { try await store.changePosition() }

    func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading {
        try await store.changes(after: position, limit: limit)
    }

    func purgeChanges(below positions: [ChangePosition]) async throws {
        try await store.purgeChanges(below: positions)
    }

    func tables() async throws -> [TableShape] { try await store.tables() }
    func changeStamp() throws -> Int64 { try store.changeStamp() }
    func check() async throws { try await store.check() }
    func close() async throws {}
}

@Suite("Certificates in memory")
struct LiveCertificateTests {
    @Test("keep a ban that a later look at the store found, when an earlier look comes back after it")
    func order() async throws {
        try await ServiceFixture.run { fixture in
            let store = GatedStore(fixture.store)
            let context = fixture.context(store: store, node: ServingNode(caches: Caches(store: store)))
            let watch = context.invalidator
            let device = try await fixture.connectNewDevice()
            let connection = ClientConnection(id: ConnectionID(UUID()), thumbprint: device.thumbprint) {}
            try await watch.poll()
            try await context.authenticate(connection)

            // Something changes; the look at it has read the store, and its answer is on its way.
            let phones = try PhoneBench(fixture)
            let session = try await phones.person("alice", on: device).session
            try await fixture.store.write { try ChangeLog($0).append(.device(session.deviceID)) }
            store.holdRead(after: 0)
            async let early: Void = watch.poll()
            await store.held.pass()
            try await BanBench(fixture).ban(.device(session.deviceID))
            try await watch.poll()
            await #expect(throws: Refusal(.certificateRevoked, "")) { try await context.authenticate(connection) }
            store.release.open()
            try await early
            await #expect(throws: Refusal(.certificateRevoked, "")) { try await context.authenticate(connection) }
        }
    }

    @Test("supersede nothing that were revoked between the look at them and the note that they were seen")
    func firstSight() async throws {
        try await ServiceFixture.run { fixture in
            let store = GatedStore(fixture.store)
            let context = fixture.context(store: store, node: ServingNode(caches: Caches(store: store)))
            let watch = context.invalidator
            let old = try await fixture.connectNewDevice()
            let session = try await fixture.opened("alice", on: old).session
            fixture.clock.advance(250 * 86_400)
            // Of another key: the old certificate would be lost with its own.
            let csr = try TestAuthority.certificationRequest(commonName: "x")
            let renewed = try await fixture.context.renewCertificate(csr: csr, on: old).certificate
            try await watch.poll()
            store.precede { [revoke = fixture.revokeCertificate] in
                try await revoke.revoke(serial: renewed.serial, reason: .keyCompromise)
            }
            try await context.authenticate(
                ClientConnection(id: ConnectionID(UUID()), thumbprint: renewed.thumbprint) {})
            let (present, bound) = try await fixture.store.read { [thumbprint = old.thumbprint] transaction in
                (
                    try CertificateRepository(transaction).find(thumbprint: thumbprint),
                    try SessionRepository(transaction).find(session.id)
                )
            }
            #expect(present?.revoked == nil && bound?.thumbprint == old.thumbprint)
        }
    }

    @Test(
        "are forgotten when nobody used them for an hour, but where a connection holds them, which a ban still reaches")
    func emptied() async throws {
        try await ServiceFixture.run { fixture in
            for _ in 0..<3 { _ = try await fixture.connectNewDevice() }
            let held = try await fixture.connectNewDevice()
            #expect(fixture.certificates.count == 4)
            fixture.clock.advance(3599)
            try await fixture.housekeeping()
            #expect(fixture.certificates.count == 4)
            let device = try await PhoneBench(fixture).person("alice", on: held).session.deviceID
            fixture.clock.advance(3602)
            try await fixture.housekeeping()
            #expect(fixture.certificates.count == 1)
            try await BanBench(fixture).ban(.device(device))
            await #expect(throws: Refusal(.certificateRevoked, "")) { try await fixture.context.authenticate(held) }
        }
    }
}
