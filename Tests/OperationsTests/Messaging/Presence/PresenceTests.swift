import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// Two nodes on one store, and devices that wait on either of them.
@Suite("Presence", .timeLimit(.minutes(10)))
struct PresenceTests {
    /// A node with its heartbeat.
    private struct Node {
        let bench: MessageBench
        let id = NodeID(UUID())

        var context: Service { bench.context }

        func beat() async throws {
            let id = id
            try await context.store.write {
                try ClusterMemberRepository($0).write(
                    id, host: "host", version: "1.0", startedAt: $0.now, NodeFingerprints(items: [:], policies: [:]))
            }
        }

        @discardableResult
        func announce(isEnding: Bool = false) async throws -> Int {
            try await AnnouncePresence(context, node: id)(isEnding: isEnding)
        }

        func see(_ user: Session, by session: Session) async throws -> UserPresence {
            try #require(try await context.readPresence(try PresenceTests.question([user.userID]), for: session).first)
        }

        /// A device that waits for a change.
        ///
        /// - Parameter watched: a user that the device's user sees.
        func wait(_ session: Session, for watched: Session? = nil) async throws -> Task<Service.SyncAnswer, any Error> {
            let anchor = try await bench.sync(.latest, for: session).anchor
            // A stranger, who is no longer watched after the first reading.
            let question = try watched.map { try PresenceTests.question([$0.userID, UserID(UUID())]) } ?? .nobody
            let context = context
            let answer = Task {
                try await context.synchronizeMessages(since: anchor, wait: 600, presenceOf: question, for: session)
            }
            let count = watched == nil ? 0 : 1
            try await PresenceTests.until {
                context.node.online.holds(session.userID) && context.node.presenceWatches.count == count
            }
            return answer
        }

        /// Ends the wait of a device.
        func leave(_ waiting: Task<Service.SyncAnswer, any Error>, of session: Session) async throws {
            waiting.cancel()
            _ = try? await waiting.value
            try await PresenceTests.until { !context.node.online.holds(session.userID) }
        }
    }

    private static func question(_ users: [UserID]) throws -> Service.PresenceQuestion {
        try #require(Service.PresenceQuestion(users.map(\.description).joined(separator: ",")))
    }

    private static func until(_ condition: () -> Bool) async throws {
        for _ in 0..<12000 where !condition() { try await Task.sleep(for: .milliseconds(10)) }
        #expect(condition())
    }

    /// Ann and Bob, who permit each other messages, and two nodes.
    private static func run(
        _ change: (inout Policy) -> Void = { _ in },
        _ body: (_ ann: Session, _ bob: Session, _ first: Node, _ second: Node) async throws -> Void
    ) async throws {
        try await MessageBench.run {
            $0.streams.pollWait = 600
            change(&$0)
        } _: { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            try await bench.permit(ann, bob)
            let (first, second) = (Node(bench: bench), Node(bench: bench.anotherNode()))
            for node in [first, second] {
                try await node.beat()
                try await node.context.invalidator.poll()
            }
            try await body(ann, bob, first, second)
        }
    }

    @Test("is seen on every node from a device's wait on until it has left, and then as a time of one minute")
    func online() async throws {
        try await Self.run { ann, bob, first, second in
            let offline = UserPresence(of: bob.userID)
            for node in [first, second] { #expect(try await node.see(bob, by: ann) == offline) }
            let waiting = try await first.wait(bob)
            #expect(try await first.announce() == 1)
            for node in [first, second] {
                #expect(try await node.see(bob, by: ann) == UserPresence(of: bob.userID, isOnline: true))
            }
            // A user who stays online is not written again.
            #expect(try await first.announce() == 0)
            try await first.leave(waiting, of: bob)
            // Devices wait again within seconds.
            #expect(try await first.announce() == 0)
            #expect(try await second.see(bob, by: ann).isOnline)
            first.bench.people.clock.advance(95)
            #expect(try await first.announce(isEnding: true) == 1)
            let left = first.bench.people.clock.now
            #expect(try await second.see(bob, by: ann) == UserPresence(of: bob.userID, lastSeen: left))
        }
    }

    @Test("of a node that dies ends with its heartbeat, but not of users that another node has too")
    func killed() async throws {
        try await Self.run { ann, bob, first, second in
            let waiting = try await first.wait(bob)
            let watch = second.context.watchMessages(of: ann.userID)
            for node in [first, second] { try await node.announce() }
            let start = first.bench.people.clock.now
            first.bench.people.clock.advance(ClusterMember.patience)
            try await second.beat()
            #expect(try await second.see(bob, by: ann) == UserPresence(of: bob.userID, lastSeen: start))
            #expect(try await second.see(ann, by: bob).isOnline)
            // It was not dead.
            try await first.beat()
            #expect(try await second.see(bob, by: ann).isOnline)
            let other = second.context.watchMessages(of: bob.userID)
            try await second.announce()
            first.bench.people.clock.advance(ClusterMember.patience)
            try await second.beat()
            #expect(try await second.see(bob, by: ann).isOnline)
            for watch in [watch, other] { watch.end() }
            try await first.leave(waiting, of: bob)
        }
    }

    @Test("ends the wait of users who watch it, when it begins and when it ends")
    func watched() async throws {
        try await Self.run { ann, bob, first, second in
            let watching = try await second.wait(ann, for: bob)
            let waiting = try await first.wait(bob)
            try await first.announce()
            try await second.context.invalidator.poll()
            let found = try await watching.value
            #expect(found.operations.isEmpty && found.presence.map(\.isOnline) == [true, false])
            let again = try await second.wait(ann, for: bob)
            try await first.leave(waiting, of: bob)
            try await first.announce(isEnding: true)
            try await second.context.invalidator.poll()
            #expect(try await again.value.presence.map(\.isOnline) == [false, false])
            #expect(second.context.node.presenceWatches.count == 0)
        }
    }

    /// What ends that a user sees another one.
    enum Ending: CaseIterable, Sendable {
        case block, blocked, cancellation, ban, messagingBan, hidden, hiding, erasure
    }

    private static func end(_ ending: Ending, _ ann: Session, _ bob: Session, _ authorization: String, _ node: Node)
        async throws
    {
        let (context, people) = (node.context, node.bench.people)
        switch ending {
        case .block: try await context.blockUser(ann.userID.description, for: bob)
        case .blocked: try await context.blockUser(bob.userID.description, for: ann)
        case .cancellation: _ = try await context.cancelAuthorization(authorization, for: bob)
        case .ban, .messagingBan:
            let order = try BanOrder(
                target: .user(bob.userID.description), scope: ending == .ban ? .all : .messaging,
                reason: try #require(BanBench.spam), note: nil, endsAt: nil, withDevices: false)
            let admin = Administration(store: context.store, environment: context.environment, actor: "admin test") {
                people.keys
            }
            _ = try await admin.addBan(order, upTo: nil)
        case .hidden: try await context.changeProfile(Service.ProfileChange(presence: .hidden), for: bob)
        case .hiding: try await context.changeProfile(Service.ProfileChange(presence: .hidden), for: ann)
        case .erasure:
            let keys = people.keys
            try await context.write { transaction, events in
                try EraseUser(keys: keys, actor: "test", reason: "asked")(
                    bob.userID, receipt: context.environment.newUUID(), in: transaction, &events)
            }
        }
    }

    @Test(
        "ends at once on every node by a block, a cancellation, a ban, an erasure and a side that hides",
        arguments: Ending.allCases)
    func ends(_ ending: Ending) async throws {
        try await Self.run { ann, bob, first, second in
            let bench = first.bench
            let authorization = try #require(
                try await bench.context.store.read {
                    try AuthorizationRepository($0).storedOpen(between: ann.userID, and: bob.userID).first?.id
                })
            // A conversation in common would not show a blocked, banned or hidden user either.
            if ending != .cancellation { _ = try await bench.open("conversation", [bob], by: ann) }
            let watch = first.context.watchMessages(of: bob.userID)
            try await first.announce()
            let watching = try await second.wait(ann, for: bob)
            #expect(try await second.see(bob, by: ann).isOnline)
            try await Self.end(ending, ann, bob, authorization.description, first)
            try await second.context.invalidator.poll()
            let found = try await watching.value
            #expect(found.presence.first == UserPresence(of: bob.userID))
            watch.end()
            try await first.announce(isEnding: true)
            // No time either, unlike that of a user who may be seen.
            #expect(try await second.see(bob, by: ann) == UserPresence(of: bob.userID))
            let stored = try await bench.context.store.read { try PresenceRepository($0).find([bob.userID]) }
            if ending == .erasure { #expect(stored.isEmpty) }
        }
    }

    @Test("is seen of permitted users and of members of common conversations: all others look as if they never were")
    func strangers() async throws {
        try await Self.run { ann, bob, first, second in
            let bench = first.bench
            let (cat, dan) = (try await bench.people.person("cat"), try await bench.people.person("dan"))
            let away = try await bench.people.person("eve", at: "other")
            try await bench.permit(bob, cat)
            let everyone = [ann, bob, cat, dan, away]
            let watches = everyone.map { first.context.watchMessages(of: $0.userID) }
            try await first.announce()
            func seen(_ session: Session) async throws -> [Bool] {
                try await second.context.readPresence(try Self.question(everyone.map(\.userID)), for: session)
                    .map(\.isOnline)
            }
            #expect(try await seen(ann) == [false, true, false, false, false])
            #expect(try await seen(dan) == [false, false, false, false, false])
            let stream = try await bench.open("conversation", [ann, cat], by: bob)
            #expect(try await seen(ann) == [false, true, true, false, false])
            try await bench.remove(cat, from: stream, by: bob)
            #expect(try await seen(ann) == [false, true, false, false, false])
            // Without the level two users cannot write to each other.
            try await bench.context.deleteMessageStream(stream, for: bob)
            try await bench.people.setLevel(.none, of: bob)
            #expect(try await seen(ann) == [false, false, false, false, false])
            for watch in watches { watch.end() }
            try await first.announce(isEnding: true)
            for (user, other) in [(dan, ann), (away, ann)] {
                #expect(try await second.see(user, by: other) == UserPresence(of: user.userID))
            }
        }
    }

    @Test("is shown again when a hidden user shows it, without the time from before")
    func shownAgain() async throws {
        try await Self.run { ann, bob, first, second in
            let watch = first.context.watchMessages(of: bob.userID)
            try await first.announce()
            try await first.context.changeProfile(Service.ProfileChange(presence: .hidden), for: bob)
            #expect(try await first.context.readProfile(bob).presence == .hidden)
            #expect(try await second.see(bob, by: ann) == UserPresence(of: bob.userID))
            #expect(try await second.see(ann, by: bob) == UserPresence(of: ann.userID))
            try await first.context.changeProfile(Service.ProfileChange(presence: .visible), for: bob)
            #expect(try await second.see(bob, by: ann).isOnline)
            try await first.context.changeProfile(Service.ProfileChange(presence: .hidden), for: bob)
            watch.end()
            try await first.announce(isEnding: true)
            try await first.context.changeProfile(Service.ProfileChange(presence: .visible), for: bob)
            #expect(try await second.see(bob, by: ann) == UserPresence(of: bob.userID))
        }
    }

    @Test("is neither stored nor shown if the policy says off")
    func policyOff() async throws {
        try await Self.run {
            $0.streams.presence = .off
        } _: { ann, bob, first, second in
            let watch = first.context.watchMessages(of: bob.userID)
            #expect(try await first.announce() == 0)
            #expect(try await second.see(bob, by: ann) == UserPresence(of: bob.userID))
            watch.end()
            #expect(try await first.announce(isEnding: true) == 0)
            let rows: Int64? = try await first.context.store.read {
                try $0.first("SELECT (SELECT COUNT(*) FROM presences) + (SELECT COUNT(*) FROM online_users)", [])?
                    .integer(0)
            }
            #expect(rows == 0)
        }
    }
}
