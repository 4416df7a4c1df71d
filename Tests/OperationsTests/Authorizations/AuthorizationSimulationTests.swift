import Crypto
import Database
import Delivery
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing

/// A store whose process dies in the middle of writes: before they are durable, or after it and before anybody is told.
/// The next call finds the file opened anew.
private final class DyingStore: Database {
    struct Death: Error {}
    enum Moment: Sendable { case before, after }

    private let state: Mutex<(store: any Database, death: Moment?)>
    private let reopen: @Sendable () throws -> any Database

    init(_ reopen: @escaping @Sendable () throws -> any Database) throws {
        self.reopen = reopen
        state = Mutex((try reopen(), nil))
    }

    /// The next write is the process's last.
    func die(_ moment: Moment?) { state.withLock { $0.death = moment } }

    private var store: any Database { state.withLock { $0.store } }

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.read(body)
    }

    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        let (store, death) = state.withLock { state in
            defer { state.death = nil }
            return (state.store, state.death)
        }
        let result = try await store.write { transaction in
            let result = try body(transaction)
            if death == .before { throw Death() }
            return result
        }
        guard death == .after else { return result }
        try await store.close()
        let opened = try reopen()
        state.withLock { $0.store = opened }
        throw Death()
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
    func close() async throws { try await store.close() }
}

/// What should become of the authorizations of two people, in a few lines.
private struct Model {
    struct Entry {
        let requester: Int
        var state: MessagingPermission.State
        let createdAt: Date
        var changedAt: Date
        var history: [MessagingPermission.State] = [.request]
        /// The crossed request whose approval ended it.
        var replacedBy: String?
    }

    var entries: [String: Entry] = [:]

    func state(_ id: String, _ now: Date) -> MessagingPermission.State? {
        entries[id].map { $0.state == .request && now >= $0.createdAt + 14 * 86_400 ? .expired : $0.state }
    }

    /// The code of the refusal that asking meets; `nil` where it succeeds.
    mutating func ask(_ id: String, _ requester: Int, _ now: Date) -> Refusal.Code? {
        if let known = entries[id] { return known.requester == requester ? nil : .notFound }
        for (other, entry) in entries {
            switch (state(other, now), entry.requester == requester) {
            case (.request, true), (.approval, _): return .conflict
            case (.rejected, true) where now < entry.changedAt + 30 * 86_400: return .conflict
            default: break
            }
        }
        entries[id] = Entry(requester: requester, state: .request, createdAt: now, changedAt: now)
        return nil
    }

    mutating func act(_ event: String, _ id: String, _ actor: Int, _ now: Date) -> Refusal.Code? {
        guard let entry = entries[id], let state = state(id, now) else { return .notFound }
        let isRequester = entry.requester == actor
        if let permission = entry.replacedBy, entries[permission]?.state == .approval {
            if event == "approve", !isRequester { return nil }
            if event == "cancel" {
                enter(.cancelled, permission, now)
                return nil
            }
        }
        let next: MessagingPermission.State
        switch event {
        case "approve" where !isRequester: next = .approval
        case "reject" where !isRequester: next = .rejected
        case "cancel": next = .cancelled
        default: return .notFound
        }
        if state == next { return nil }
        let isAllowed =
            state == .request ? (next != .cancelled || isRequester) : state == .approval && next == .cancelled
        guard isAllowed else { return state == .expired ? .gone : .conflict }
        enter(next, id, now)
        guard next != .cancelled else { return nil }
        for other in entries.keys where other != id && self.state(other, now) == .request {
            enter(.cancelled, other, now)
            if next == .approval { entries[other]?.replacedBy = id }
        }
        return nil
    }

    /// Both people are on each side of everything: the ban of either withdraws all that is open.
    mutating func ban(_ now: Date) {
        for id in entries.keys where state(id, now)?.isOpen == true { enter(.banned, id, now) }
    }

    private mutating func enter(_ state: MessagingPermission.State, _ id: String, _ now: Date) {
        entries[id]?.state = state
        entries[id]?.changedAt = now
        entries[id]?.history.append(state)
    }
}

@Suite("Two users who ask each other, with bans and crashes in between")
struct AuthorizationSimulationTests {
    @Test(
        "end up in every step where a model of a few lines says, with each state's row once",
        arguments: 0..<Soak.count(2, soak: 4))
    func simulation(seed: Int) async throws {
        try await withTemporaryDirectory { directory in
            let clock = ServiceFixture.Clock()
            let store = try DyingStore { try StoreKind.sqlite.open(directory) { clock.now } }
            try await store.migrate(Schema.migrations)
            var policy = Policy()
            policy.phones.pushApplications = [AuthorizationBench.application]
            let bench = try await AuthorizationBench(store, clock, CurrentPolicy(policy), .off)
            try await run(bench, store, SeededRandom(seed: UInt64(seed)))
            try await store.close()
        }
    }

    private func run(_ bench: AuthorizationBench, _ store: DyingStore, _ seeded: SeededRandom) async throws {
        var random = seeded
        var model = Model()
        let people = [try await bench.person("alice"), try await bench.person("bob")]
        var ids: [String] = []
        var deaths = 0
        for step in 0..<250 {
            let actor = Int.random(in: 0...1, using: &random)
            let old = ids.suffix(6).randomElement(using: &random)
            let moment: DyingStore.Moment? = [.before, .after, nil, nil, nil, nil].randomElement(using: &random) ?? nil
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6:
                let id = Bool.random(using: &random) ? old : nil
                let name = id ?? UUID().uuidString.lowercased()
                let request = try Service.PermissionRequest(
                    id: name, to: people[1 - actor].userID.description, eventID: nil)
                let died = try await attempt(store, moment, "\(step) ask") {
                    model.ask(name, actor, bench.clock.now)
                } undo: {
                    model.entries[name] = id == nil ? nil : model.entries[name]
                } act: {
                    _ = try await bench.context.requestPermission(request, for: people[actor])
                }
                deaths += died ? 1 : 0
                if id == nil, model.entries[name] != nil { ids.append(name) }
            case 6..<14:
                guard let old else { continue }
                let event = ["approve", "approve", "reject", "cancel"].randomElement(using: &random) ?? "cancel"
                let before = model.entries
                let died = try await attempt(store, moment, "\(step) \(event)") {
                    model.act(event, old, actor, bench.clock.now)
                } undo: {
                    model.entries = before
                } act: {
                    switch event {
                    case "approve": _ = try await bench.context.approveAuthorization(old, for: people[actor])
                    case "reject": _ = try await bench.context.rejectAuthorization(old, for: people[actor])
                    default: _ = try await bench.context.cancelAuthorization(old, for: people[actor])
                    }
                }
                deaths += died ? 1 : 0
            case 14:
                let before = model.entries
                let died = try await attempt(store, moment, "\(step) ban") {
                    model.ban(bench.clock.now)
                    return nil
                } undo: {
                    model.entries = before
                } act: {
                    try await bench.ban(people[actor])
                }
                deaths += died ? 1 : 0
            case 15: bench.clock.advance(Double([60, 86_400, 10 * 86_400].randomElement(using: &random) ?? 60))
            case 16: try await bench.housekeeping()
            default:
                bench.pushes.answer(
                    Bool.random(using: &random) ? .sent(reference: "") : .unavailable(reason: "down"))
                store.die(moment)
                do { _ = try await bench.deliver() } catch is DyingStore.Death { deaths += 1 }
                store.die(nil)
            }
            try await compare(bench, model, people, step)
        }
        #expect(deaths > 20)
        try await settle(bench, model)
    }

    /// Makes a call in the model and in the store. Where the process dies before the call is durable nothing of it
    /// stays; where it dies after that, the call was made, and whoever repeats it is answered as if nothing had been.
    private func attempt(
        _ store: DyingStore, _ moment: DyingStore.Moment?, _ what: String, inModel: () -> Refusal.Code?,
        undo: () -> Void, act: () async throws -> Void
    ) async throws -> Bool {
        let expected = inModel()
        store.die(moment)
        defer { store.die(nil) }
        do {
            try await act()
            #expect(expected == nil && moment == nil, "\(what)")
            return false
        } catch let refusal as Refusal {
            #expect(refusal.code == expected, "\(what)")
            return false
        } catch is DyingStore.Death {
            #expect(expected == nil, "\(what)")
            if moment == .before { undo() }
            if moment == .after { try await act() }
            return true
        }
    }

    private func compare(_ bench: AuthorizationBench, _ model: Model, _ people: [Session], _ step: Int) async throws {
        let now = bench.clock.now
        for (id, entry) in model.entries {
            let key = AuthorizationID(id[...]) ?? AuthorizationID(UUID())
            let found = try await bench.store.read { try AuthorizationRepository($0).find(key) }
            #expect(found?.state(now: now) == model.state(id, now), "\(step)")
            let rows = try await bench.rows(id).map(\.type).filter { $0 != .expired }
            #expect(rows == entry.history, "\(step)")
        }
        let open = model.entries.keys.count { model.state($0, now)?.isOpen == true }
        for person in people { #expect(try await bench.countOpen(person) == open, "\(step)") }
        let listed = try await bench.store.read { transaction in
            try transaction.query("SELECT id FROM authorizations").count
        }
        #expect(listed == model.entries.count, "\(step)")
    }

    /// Once the carrier is there and the leases of the dead have run out, whatever still holds was told.
    private func settle(_ bench: AuthorizationBench, _ model: Model) async throws {
        bench.pushes.answer(.sent(reference: ""))
        bench.clock.advance(61)
        while try await bench.deliver() != nil { bench.clock.advance(31) }
        for id in model.entries.keys {
            let state = model.state(id, bench.clock.now)
            for row in try await bench.rows(id) where row.type == state && row.recipientID != nil {
                #expect(row.isSent == true)
            }
        }
    }
}
