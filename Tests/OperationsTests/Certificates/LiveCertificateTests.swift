import Authority
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing

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

    func tables() async throws -> [TableShape] { try await store.tables() }
    func changeStamp() throws -> Int64 { try store.changeStamp() }
    func check() async throws { try await store.check() }
    func close() async throws {}
}

@Suite("Certificates in memory")
struct LiveCertificateTests {
    @Test("keep a ban that a later look at the store found, when an earlier look comes back after it")
    func order() async throws {
        try await House.inhabit { house in
            let store = GatedStore(house.store)
            let certificates = LiveCertificates(store: store)
            let surroundings = Surroundings(now: { [clock = house.clock] in clock.now })
            let watch = StoreWatch(
                store: store, sessions: house.sessions, certificates: certificates, providers: house.providers,
                policy: house.policy, surroundings: surroundings
            ) { _ in }
            let judge = JudgePeer(store: store, certificates: certificates, watch: watch, surroundings: surroundings)
            let device = try await house.connectNewDevice()
            let connection = ClientConnection(id: ConnectionID(UUID()), thumbprint: device.thumbprint) {}
            try await watch.poll()
            try await judge(connection)

            // Something changes; the look at it has read the store, and its answer is on its way.
            let phones = try PhoneBench(house)
            let session = try await phones.person("alice", on: device).session
            try await house.store.write { try ChangeRecords($0).announce(.device(session.deviceID)) }
            store.holdRead(after: 1)
            async let early: Void = watch.poll()
            await store.held.pass()
            try await BanBench(house).ban(.device(session.deviceID))
            try await watch.poll()
            await #expect(throws: Refusal(.certificateRevoked, "")) { try await judge(connection) }
            store.release.open()
            try await early
            await #expect(throws: Refusal(.certificateRevoked, "")) { try await judge(connection) }
        }
    }

    @Test("supersede nothing that were revoked between the look at them and the note that they were seen")
    func firstSight() async throws {
        try await House.inhabit { house in
            let store = GatedStore(house.store)
            let surroundings = Surroundings(now: { [clock = house.clock] in clock.now })
            let certificates = LiveCertificates(store: store)
            let watch = StoreWatch(
                store: store, sessions: house.sessions, certificates: certificates, providers: house.providers,
                policy: house.policy, surroundings: surroundings
            ) { _ in }
            let judge = JudgePeer(store: store, certificates: certificates, watch: watch, surroundings: surroundings)
            let old = try await house.connectNewDevice()
            let session = try await house.opened("alice", on: old).session
            house.clock.advance(250 * 86_400)
            // Of another key: the old certificate would be lost with its own.
            let csr = try TestAuthority.certificationRequest(commonName: "x")
            let renewed = try await house.renewCertificate(csr: csr, on: old).certificate
            try await watch.poll()
            store.precede { [revoke = house.revokeCertificate] in
                try await revoke.revoke(serial: renewed.serial, reason: .keyCompromise, actor: "admin test")
            }
            try await judge(ClientConnection(id: ConnectionID(UUID()), thumbprint: renewed.thumbprint) {})
            let (present, bound) = try await house.store.read { [thumbprint = old.thumbprint] transaction in
                (
                    try CertificateRecords(transaction).find(thumbprint: thumbprint),
                    try SessionRecords(transaction).find(session.id)
                )
            }
            #expect(present?.revoked == nil && bound?.thumbprint == old.thumbprint)
        }
    }

    @Test(
        "are forgotten when nobody used them for an hour, but where a connection holds them, which a ban still reaches")
    func emptied() async throws {
        try await House.inhabit { house in
            for _ in 0..<3 { _ = try await house.connectNewDevice() }
            let held = try await house.connectNewDevice()
            #expect(house.certificates.count == 4)
            house.clock.advance(3599)
            try await house.keepHouse()
            #expect(house.certificates.count == 4)
            let device = try await PhoneBench(house).person("alice", on: held).session.deviceID
            house.clock.advance(3602)
            try await house.keepHouse()
            #expect(house.certificates.count == 1)
            try await BanBench(house).ban(.device(device))
            await #expect(throws: Refusal(.certificateRevoked, "")) { try await house.judge(held) }
        }
    }
}
