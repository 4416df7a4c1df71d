import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Erasing a user who has more rows than one transaction takes")
struct LargeErasureTests {
    private static let messages = 600
    private static let batch = MaintenanceBatch(limit: 200)

    private struct Crash: Error {}

    /// A user's messages in a stream and permissions with new users: as many as no test sends one by one.
    private static func plant(in stream: String, _ user: Session, _ store: any Database) async throws {
        try await store.write { transaction in
            let (id, now) = (Value.text(user.userID.description), Value.integer(0))
            for number in 0..<messages {
                try transaction.enqueue(
                    """
                    INSERT INTO stream_events (stream_id, sequence, event_id, sender_id, sent_at, size, sealed_body)
                    VALUES ($1, $2, $3, $4, $5, 256, $6)
                    """,
                    [
                        .text(stream), .integer(Int64(number + 2)), .text(UUID().uuidString.lowercased()), id, now,
                        .bytes([1]),
                    ])
                let partner = Value.text(UUID().uuidString.lowercased())
                try transaction.enqueue(
                    """
                    INSERT INTO users (id, provider_id, external_id, assurance, created_at, held)
                    VALUES ($1, $2, $1, 'none', 0, 0)
                    """, [partner, .text(user.providerID.description)])
                try transaction.enqueue(
                    """
                    INSERT INTO authorizations (id, provider_id, asker_id, accepter_id, asker_generation,
                        accepter_generation, target, is_delivered, state, created_at, expires_at, changed_at)
                    VALUES ($1, $2, $3, $4, 0, 0, $5, 1, 'APPROVAL', $6, $6, $6)
                    """,
                    [
                        .text(UUID().uuidString.lowercased()), .text(user.providerID.description), id,
                        partner, .bytes(Digest256.of("planted \(number)").bytes), now,
                    ])
            }
            try transaction.enqueue(
                "UPDATE streams SET last_sequence = $2 WHERE id = $1",
                [.text(stream), .integer(Int64(messages + 1))])
        }
    }

    /// A conversation of two with more of one's messages than go at once, and another one.
    private static func run(
        _ kind: StoreKind,
        _ body: (MessageBench, _ ann: Session, _ bob: Session, _ streams: [String]) async throws -> Void
    ) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            try await bench.permit(ann, bob)
            var streams: [String] = []
            for _ in 0..<2 { streams.append(try await bench.open("conversation", [bob], by: ann)) }
            try await bench.send("hi", to: streams[0], by: bob)
            try await plant(in: streams[0], ann, bench.context.store)
            try await body(bench, ann, bob, streams)
        }
    }

    /// Carries out a batch; whether it was the last.
    private static func step(_ context: Service, crashing: Bool = false) async throws -> Bool {
        try await context.maintain { transaction, events in
            let outcome = try EraseRest.task.batch(transaction, batch, &events)
            if crashing { throw Crash() }
            return outcome.isFinished
        }
    }

    /// Those of some columns, as `table WHERE column` or `table.column`, that name a user.
    private static func isLeft(_ user: UserID, in columns: [String], _ store: any Database) async throws -> [String] {
        try await store.read { transaction in
            try columns.filter { column in
                let condition = column.replacing(".", with: " WHERE ")
                return try transaction.first("SELECT 1 FROM \(condition) = $1", [.text(user.description)]) != nil
            }
        }
    }

    @Test(
        "hides everything in a short transaction, and holds the user back until all is gone",
        arguments: StoreKind.shared)
    func hiding(kind: StoreKind) async throws {
        try await Self.run(kind) { bench, ann, bob, streams in
            let store = bench.context.store
            let counter = StatementCounter(store)
            _ = try await bench.anotherNode(over: counter).context.erasePersonalData(for: ann)
            #expect(counter.take().rows < 4 * EraseRest.atOnce)
            #expect(
                try await Self.isLeft(ann.userID, in: ["stream_events.sender_id", "erasures.user_id"], store).count == 2
            )

            let texts = try await bench.read(streams[0], by: bob)
            #expect(texts.first == "1 hi" && texts.count > 1 && texts.dropFirst().allSatisfy { $0.hasSuffix(" -") })
            let range = try Service.MessageRange(after: "1", before: nil, limit: nil)
            let views = try await bench.context.readMessages(range, of: streams[0], for: bob).views
            #expect(views.allSatisfy { $0.message.senderID == nil })
            for stream in streams {
                let seen = try await bench.show(stream, to: bob)
                #expect(seen.members.map(\.member.userID) == [bob.userID])
            }
            let (export, open, permitted) = try await store.read { [keys = bench.people.keys] transaction in
                let records = AuthorizationRepository(transaction)
                let user = try UserSummary.find(ann.userID.description, in: transaction).user
                return (
                    try PersonalExport.collect(user, address: "", keys: keys, in: transaction),
                    try records.countOpen(of: ann.userID) + records.countOpen(of: bob.userID),
                    try records.permitted(with: bob.userID, among: [ann.userID])
                )
            }
            #expect(open == 0 && permitted.isEmpty)
            for name in ["messages", "streams", "authorizations"] {
                #expect(export.json[name] == .array([]), "\(name)")
            }

            // Not even the end of a ban lets the user in.
            try await store.write { try GenerationRepository($0).setMayBeBanned(false, .user(ann.userID)) }
            #expect(try await Self.isLeft(ann.userID, in: ["users WHERE held = 1 AND id"], store).count == 1)
            await #expect(throws: Refusal(.unavailable, "")) {
                try await store.write {
                    _ = try RefuseBanned.activeBan(atSignInOf: ann.userID, by: ann.applicationID, in: $0)
                }
            }
        }
    }

    @Test(
        "goes on in bounded batches past a crash, tells the members, and refuses no writer", arguments: StoreKind.shared
    )
    func batches(kind: StoreKind) async throws {
        try await Self.run(kind) { bench, ann, bob, streams in
            let store = bench.context.store
            _ = try await bench.context.erasePersonalData(for: ann)
            let counter = StatementCounter(store)
            let counted = bench.anotherNode(over: counter).context
            var (rounds, isFinished) = (0, false)
            async let written: Void = {
                for index in 0..<10 { try await bench.send("\(index)", to: streams[0], by: bob) }
            }()
            while !isFinished, rounds < 100 {
                await #expect(throws: Crash.self) { _ = try await Self.step(bench.context, crashing: true) }
                _ = counter.take()
                isFinished = try await Self.step(counted)
                // Of an authorization four rows at most.
                #expect(counter.take().rows <= 4 * Self.batch.limit + 10)
                rounds += 1
            }
            try await written
            #expect(isFinished && rounds > Self.messages / Self.batch.limit)
            #expect(
                try await Self.isLeft(ann.userID, in: Self.fates.compactMap { $1 == .kept ? nil : $0 }, store).isEmpty)
            let told = try await store.read {
                try StreamUserRepository($0).changes(of: bob.userID, after: 0, limit: 100).filter { $0.kind == .erased }
            }
            #expect(Set(told.map(\.stream.description)) == Set(streams) && told.count == 2)
            try await store.write {
                _ = try RefuseBanned.activeBan(atSignInOf: ann.userID, by: ann.applicationID, in: $0)
            }
        }
    }

    /// What becomes of the rows of a user in a column.
    private enum Fate {
        /// They go with the erasure itself.
        case atOnce
        /// They go in batches, and no user reads them before.
        case inBatches
        /// They hold nothing of the person, or others need them.
        case kept
    }

    private static let fates: [String: Fate] = [
        "age_proofs.user_id": .atOnce, "authenticated_users.user_id": .atOnce,
        "authorizations.accepter_id": .inBatches,
        "authorizations.asker_id": .inBatches, "blocks.blocked_id": .kept, "blocks.blocker_id": .atOnce,
        "certificate_notices.user_id": .kept, "data_keys.user_id": .kept, "discovery_entries.user_id": .atOnce,
        "erasures.user_id": .inBatches, "event_stream_exclusions.user_id": .atOnce,
        "findable_addresses.user_id": .atOnce, "forbidden_apps.user_id": .atOnce, "identity_cards.user_id": .atOnce,
        "online_users.user_id": .atOnce, "outbox.user_id": .inBatches,
        "permission_cuts.user_id": .kept, "phone_failures.user_id": .atOnce, "phone_sends.user_id": .kept,
        "phone_verifications.user_id": .atOnce, "presences.user_id": .atOnce, "presentations.user_id": .atOnce,
        "push_endpoints.user_id": .atOnce,
        "sessions.user_id": .kept, "sign_ins.user_id": .inBatches, "storage_opt_outs.user_id": .atOnce,
        "stream_deliveries.user_id": .inBatches,
        "stream_event_metadata.writer_id": .inBatches, "stream_event_readers.user_id": .inBatches,
        "stream_events.sender_id": .inBatches,
        "stream_members.user_id": .inBatches, "stream_users.user_id": .inBatches, "streams.created_by": .inBatches,
        "user_changes.user_id": .inBatches,
    ]

    @Test("is decided for every column that names a user")
    func decided() async throws {
        try await MessageBench.run(on: .sqlite) { bench in
            let columns = try await bench.context.store.read { transaction in
                try transaction.query(
                    """
                    SELECT m.name || '.' || f."from" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
                    WHERE m.type = 'table' AND f."table" = 'users'
                    UNION SELECT m.name || '.' || c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
                    WHERE m.type = 'table' AND c.name = 'user_id'
                    """, []
                ).map { try $0.text(0) }
            }
            #expect(Set(columns) == Set(Self.fates.keys), "decide what EraseUser does with each")
        }
    }
}
