import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// What two users agreed to by their own acts, without the rules of the service: a user consents by a request or an
/// approval, and takes it back by a cancellation, a rejection or a block.
private struct ConsentLedger {
    private(set) var consents = [false, false]
    private var states: [String: MessagingPermission.State] = [:]
    /// Requests that ended with an approval of the crossed request: to cancel or reject them ends the permission.
    private var replaced: Set<String> = []

    var areAgreed: Bool { consents == [true, true] }

    /// Notes an act that succeeded.
    mutating func note(_ call: PairOfUsersTests.Call) {
        let before = states[call.id]
        switch call.act {
        case .ask: if before == nil { consents[call.actor] = true }
        case .approve: consents[call.actor] = true
        case .reject: if before == .request || replaced.contains(call.id) { consents[call.actor] = false }
        case .cancel:
            if before?.isOpen == true || replaced.contains(call.id) { consents[call.actor] = false }
        case .blockUser, .blockRequester: consents[call.actor] = false
        case .unblockUser, .unblockRequester: break
        }
    }

    /// Takes over the states after some acts.
    mutating func advance(to new: [String: MessagingPermission.State], afterApproval: Bool) {
        for (id, state) in new where afterApproval && states[id] == .request && state == .cancelled {
            replaced.insert(id)
        }
        states = new
        if !new.values.contains(.approval) { replaced = [] }
    }
}

@Suite("Two users who do to each other whatever they can")
struct PairOfUsersTests {
    fileprivate enum Act: CaseIterable {
        case ask, approve, reject, cancel, blockUser, blockRequester, unblockUser, unblockRequester
    }

    fileprivate struct Call: Sendable, CustomStringConvertible {
        let actor: Int
        let act: Act
        let id: String

        var description: String { "\(actor) \(act) \(id.prefix(4))" }
    }

    /// How the calls of a step are made.
    private enum Way: CaseIterable { case once, repeated, twiceAtOnce, crossed }

    /// Two users, each on a node, and the authorizations that they had so far.
    private final class World {
        let bench: MessageBench
        let services: [Service]
        let people: [Session]
        var ledger = ConsentLedger()
        var ids: [String] = []
        var stream: String?
        var permittedSteps = 0

        init(_ bench: MessageBench, _ stores: [any Database]) async throws {
            self.bench = bench
            services = [bench.context, bench.anotherNode(over: stores[1]).context]
            people = [try await bench.people.person("alice"), try await bench.people.person("bob")]
        }
    }

    private static let steps = 40

    @Test(
        "have one permission at most, see it alike, and write only while both agree",
        arguments: StoreKind.shared, 0..<Soak.count(2, soak: 12))
    func anything(kind: StoreKind, seed: Int) async throws {
        try await MessageBench.run(on: kind, nodes: 2) {
            // Short times, so that the walk also passes them.
            $0.authorizations.againAfterRejection = 60
            $0.authorizations.requestLifetime = 300
        } _: { bench, stores in
            let world = try await World(bench, stores)
            var random = SeededRandom(seed: UInt64(seed))
            try await cross(world)
            for step in 0..<Self.steps {
                if Int.random(in: 0..<10, using: &random) == 0 {
                    bench.people.clock.advance([61, 301].randomElement(using: &random) ?? 61)
                }
                let way = Way.allCases.randomElement(using: &random) ?? .once
                let actor = Int.random(in: 0...1, using: &random)
                let first = Self.call(by: actor, world, &random)
                let second = way == .crossed ? Self.call(by: 1 - actor, world, &random) : first
                try await make(first, second, way, world, "\(step)")
            }
            #expect(world.permittedSteps > 0)
        }
    }

    /// Both request, both approve at once, and one cancels: what the walk begins with.
    private func cross(_ world: World) async throws {
        let ids = (0...1).map { _ in UUID().uuidString.lowercased() }
        func call(_ actor: Int, _ act: Act, _ id: String) -> Call { Call(actor: actor, act: act, id: id) }
        try await make(call(0, .ask, ids[0]), call(1, .ask, ids[1]), .crossed, world, "both request")
        try await make(call(0, .approve, ids[1]), call(1, .approve, ids[0]), .crossed, world, "both approve")
        #expect(world.ledger.areAgreed && world.permittedSteps == 1)
        let end = call(0, .cancel, ids[0])
        try await make(end, end, .repeated, world, "one cancels")
        let late = call(1, .approve, ids[0])
        try await make(late, late, .once, world, "the other approves again")
        #expect(world.permittedSteps == 1)
    }

    /// Each act, and more of those that lead to a permission, so that there is one in every fourth step.
    private static let acts: [Act] =
        Array(repeating: .ask, count: 4) + Array(repeating: .approve, count: 8) + [.cancel, .unblockUser, .unblockUser]
        + Act.allCases

    private static func call(by actor: Int, _ world: World, _ random: inout SeededRandom) -> Call {
        let act = acts.randomElement(using: &random) ?? .ask
        let old = world.ids.suffix(3).randomElement(using: &random)
        let isNew = act == .ask && Int.random(in: 0..<4, using: &random) > 0
        return Call(actor: actor, act: act, id: isNew ? UUID().uuidString.lowercased() : old ?? UUID().uuidString)
    }

    private func make(_ first: Call, _ second: Call, _ way: Way, _ world: World, _ step: String) async throws {
        var done: [Call] = []
        switch way {
        case .once:
            if try await succeeds(first, world) { done.append(first) }
        case .repeated:
            let results = [try await succeeds(first, world), try await succeeds(first, world)]
            #expect(results[0] == results[1], "\(step): \(first)")
            if results[0] { done.append(first) }
        case .twiceAtOnce, .crossed:
            let (services, people) = (world.services, world.people)
            async let one = Self.succeeds(first, on: services[0], people)
            async let other = Self.succeeds(second, on: services[1], people)
            let results = (try await one, try await other)
            if way == .crossed {
                if results.0 { done.append(first) }
                if results.1 { done.append(second) }
            } else if results.0 || results.1 {
                done.append(first)
            }
        }
        for call in done {
            world.ledger.note(call)
            if call.act == .ask, !world.ids.contains(call.id) { world.ids.append(call.id) }
        }
        let what = "\(step): \(way) \(first), \(second)"
        try await verify(world, afterApproval: done.contains { $0.act == .approve }, what)
    }

    private func succeeds(_ call: Call, _ world: World) async throws -> Bool {
        try await Self.succeeds(call, on: world.services[call.actor], world.people)
    }

    private static func succeeds(_ call: Call, on service: Service, _ people: [Session]) async throws -> Bool {
        let (me, other) = (people[call.actor], people[1 - call.actor].userID.description)
        do {
            switch call.act {
            case .ask:
                _ = try await service.requestPermission(.init(id: call.id, to: other, eventID: nil), for: me)
            case .approve: _ = try await service.approveAuthorization(call.id, for: me)
            case .reject: _ = try await service.rejectAuthorization(call.id, for: me)
            case .cancel: _ = try await service.cancelAuthorization(call.id, for: me)
            case .blockUser: try await service.blockUser(other, for: me)
            case .blockRequester: try await service.blockRequester(of: call.id, for: me)
            case .unblockUser: try await service.unblockUser(other, for: me)
            case .unblockRequester: try await service.unblockRequester(of: call.id, for: me)
            }
            return true
        } catch let refusal as Refusal {
            #expect([.conflict, .notFound, .gone].contains(refusal.code), "\(call): \(refusal)")
            return false
        }
    }

    private func verify(_ world: World, afterApproval: Bool, _ what: String) async throws {
        let people = world.bench.people
        var permissions: [[AuthorizationID]] = []
        for person in world.people {
            permissions.append(try await people.list(person, nil, "APPROVAL").map(\.authorization.id))
        }
        #expect(permissions[0].count <= 1, "\(what)")
        #expect(permissions[0] == permissions[1], "\(what)")
        let isPermitted = !permissions[0].isEmpty
        if isPermitted { world.permittedSteps += 1 }
        #expect(!isPermitted || world.ledger.areAgreed, "\(what)")

        var states: [String: MessagingPermission.State] = [:]
        for id in world.ids.suffix(8) {
            let seen = [try await state(id, world.people[0], world), try await state(id, world.people[1], world)]
            let known = seen.compactMap(\.self)
            #expect(known.count == 1 || seen[0] == seen[1], "\(what): \(seen)")
            states[id] = known.first
        }
        world.ledger.advance(to: states, afterApproval: afterApproval)

        for (place, person) in world.people.enumerated() {
            let partner = world.people[1 - place]
            let opened = try await isDone { try await world.bench.open("conversation", [partner], by: person) }
            #expect((opened != nil) == isPermitted, "\(what): \(place) opens a conversation")
            if isPermitted, world.stream == nil {
                world.stream = try await world.bench.open("direct", [partner], by: person)
            }
            guard let stream = world.stream else { continue }
            let sent = try await isDone { try await world.bench.send("hi", to: stream, by: person) }
            #expect((sent != nil) == isPermitted, "\(what): \(place) writes")
        }
    }

    /// The state as a user sees it; `nil` for a request that is hidden from the user.
    private func state(_ id: String, _ person: Session, _ world: World) async throws -> MessagingPermission.State? {
        do {
            return try await world.bench.people.context.readAuthorization(id, to: person).authorization.state
        } catch let refusal as Refusal where refusal.code == .notFound {
            return nil
        }
    }

    /// The result of a call; `nil` if the service refused it because of the permission.
    private func isDone<Answer>(_ act: () async throws -> Answer) async throws -> Answer? {
        do {
            return try await act()
        } catch let refusal as Refusal where [.conflict, .notFound].contains(refusal.code) {
            return nil
        }
    }
}
