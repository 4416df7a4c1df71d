import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables presences and online_users")
struct PresenceTableTests {
    /// Two users with an open session each.
    private static func users(_ tables: TestTables) async throws -> [UserID] {
        let users = [tables.user, try await tables.newUser("bob")]
        let sessions = users.enumerated().map { tables.session($0.offset + 1, of: $0.element) }
        try await tables.write { transaction in
            for session in sessions { try SessionRepository(transaction).insert(session, at: .first) }
        }
        return users
    }

    private static func beat(_ tables: TestTables, _ node: NodeID) async throws {
        try await tables.write {
            try ClusterMemberRepository($0).write(
                node, host: "host", version: "1.0", startedAt: TestTables.now,
                NodeFingerprints(items: [:], policies: [:]))
        }
    }

    private static func find(_ tables: TestTables, _ users: [UserID]) async throws -> [PresenceRepository.Entry?] {
        let found = try await tables.read { try PresenceRepository($0).find(users) }
        return users.map { found[$0] }
    }

    @Test("A user is online on each node that wrote it, and leaves a time of one minute", arguments: StoreKind.shared)
    func online(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let users = try await Self.users(tables)
            let nodes = [NodeID(UUID()), NodeID(UUID())]
            for node in nodes {
                try await Self.beat(tables, node)
                for _ in 0..<2 {
                    try await tables.write { try PresenceRepository($0).arrive(users, on: node, at: TestTables.now) }
                }
            }
            #expect(try await tables.count("online_users") == 4)
            for entry in try await Self.find(tables, users) { #expect(entry?.heartbeat == TestTables.now) }
            let late = TestTables.now.addingTimeInterval(90)
            for (node, isLast) in [(nodes[0], false), (nodes[1], true)] {
                try await tables.write { try PresenceRepository($0).leave([users[0]], node, at: late) }
                let heartbeat = try await Self.find(tables, users)[0]?.heartbeat
                #expect((heartbeat == nil) == isLast)
            }
            let seen = try await Self.find(tables, users).map { $0?.seenAt }
            #expect(seen == [TestTables.now.addingTimeInterval(60), TestTables.now])
            // An earlier time changes nothing.
            try await tables.write { try PresenceRepository($0).leave(users, nodes[0], at: .distantPast) }
            #expect(try await Self.find(tables, users).map { $0?.seenAt } == seen)
            // A node without a heartbeat has nobody.
            try await tables.write { try ClusterMemberRepository($0).remove(nodes[1]) }
            #expect(try await Self.find(tables, users).allSatisfy { $0?.heartbeat == nil })
        }
    }

    @Test("A hidden user's time is deleted, and no other is stored", arguments: StoreKind.shared)
    func hidden(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (users, node) = (try await Self.users(tables), NodeID(UUID()))
            try await tables.write { transaction in
                let records = PresenceRepository(transaction)
                try records.arrive([users[0]], on: node, at: TestTables.now)
                for user in users { try records.set(.hidden, of: user) }
                try records.arrive(users, on: node, at: TestTables.now.addingTimeInterval(60))
                try records.leave(users, node, at: TestTables.now.addingTimeInterval(120))
            }
            for entry in try await Self.find(tables, users) {
                #expect(entry?.visibility == .hidden && entry?.seenAt == nil)
            }
            #expect(try await Set(tables.read { try PresenceRepository($0).hidden() }) == Set(users))
            let changes = try await tables.write { transaction in
                try [PresenceVisibility.visible, .visible].map {
                    try PresenceRepository(transaction).set($0, of: users[0])
                }
            }
            #expect(changes == [true, false])
            let visibilities = try await tables.read { transaction in
                try users.map { try PresenceRepository(transaction).visibility(of: $0) }
            }
            #expect(visibilities == [.visible, .hidden])
        }
    }

    @Test("Nothing is stored about a user after an erasure, nor without an open session", arguments: StoreKind.shared)
    func erased(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (users, node) = (try await Self.users(tables), NodeID(UUID()))
            let stranger = try await tables.newUser("eve")
            try await tables.write { transaction in
                try PresenceRepository(transaction).arrive(users + [stranger], on: node, at: TestTables.now)
            }
            #expect(try await Self.find(tables, [stranger])[0]?.seenAt == nil)
            try await tables.write { try PresenceRepository($0).erase(users[0]) }
            try await tables.write { try PresenceRepository($0).leave(users, node, at: TestTables.now) }
            #expect(try await Self.find(tables, users).map { $0 == nil } == [true, false])
            #expect(try await tables.count("presences") == 1)
        }
    }

    @Test("Old times and the users of nodes that are gone are deleted in batches", arguments: StoreKind.shared)
    func purges(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let users = try await Self.users(tables)
            let (live, dead) = (NodeID(UUID()), NodeID(UUID()))
            try await Self.beat(tables, live)
            try await tables.write { transaction in
                let records = PresenceRepository(transaction)
                try records.set(.hidden, of: users[0])
                for node in [live, dead] { try records.arrive(users, on: node, at: TestTables.now) }
            }
            var (batch, rounds) = (MaintenanceBatch(limit: 1), 0)
            while rounds < 20 {
                let part = batch
                let outcome = try await tables.write { try PresenceRepository($0).purgeNodes(part) }
                rounds += 1
                if outcome.isFinished { break }
                batch = MaintenanceBatch(after: outcome.reached, limit: 1)
            }
            #expect(rounds < 20 && rounds > 3)
            #expect(try await tables.count("online_users") == 2)
            let end = TestTables.now.addingTimeInterval(1)
            try await tables.write { try PresenceRepository($0).purge(seenBefore: end) }
            // The choice of the hidden user stays.
            #expect(try await Self.find(tables, users).map { $0?.visibility } == [.hidden, .visible])
            #expect(try await tables.count("presences") == 1)
        }
    }

    @Test("Blocks are found in either direction, and companions in common conversations", arguments: StoreKind.shared)
    func others(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let others = [
                try await tables.newUser("eve"), try await tables.newUser("bob"), try await tables.newUser("al"),
            ]
            try await tables.write { transaction in
                let blocks = BlockRepository(transaction)
                _ = try blocks.insert(tables.user, blocks: others[0], at: TestTables.now)
                _ = try blocks.insert(others[1], blocks: tables.user, at: TestTables.now)
                _ = try blocks.insert(others[1], blocks: others[2], at: TestTables.now)
            }
            let blocked = try await tables.read { try BlockRepository($0).blocked(with: tables.user, among: others) }
            #expect(blocked == [others[0], others[1]])
            for (kind, members) in [(MessageStream.Kind.direct, [others[0]]), (.conversation, [others[1], others[2]])] {
                let stream = MessageStream(
                    id: MessageStreamID(UUID()), providerID: tables.provider, kind: kind, createdBy: tables.user,
                    createdAt: TestTables.now)
                try await tables.write { transaction in
                    let (key, wrapped, version) = try StreamKeyRepository(transaction, keys: tables.keys).generate(
                        for: stream.id)
                    _ = try MessageStreamRepository(transaction).insert(
                        stream, wrapped: wrapped, version: version, opening: try key.seal("x", in: .streamOpening),
                        metadata: nil)
                    for member in [tables.user] + members {
                        try StreamMemberRepository(transaction).admit(
                            StreamMember(streamID: stream.id, userID: member, joinedAt: 0))
                    }
                    if kind == .conversation {
                        try StreamMemberRepository(transaction).leave(others[2], stream.id, at: 0)
                    }
                }
            }
            let companions = try await tables.read {
                try StreamMemberRepository($0).companions(of: tables.user, among: others)
            }
            #expect(companions == [others[1]])
        }
    }
}
