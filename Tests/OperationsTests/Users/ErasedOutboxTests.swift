import Database
import Delivery
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Messages to send of an erased user")
struct ErasedOutboxTests {
    /// Rows of a user that are older than all others, so that an erasure takes them first.
    private static func plant(
        _ count: Int, _ kind: OutboxKind = .message, of user: UserID, at time: Date = Date(timeIntervalSince1970: 0),
        _ store: any Database
    ) async throws {
        try await store.write { transaction in
            for _ in 0..<count {
                let id = UUID().uuidString.lowercased()
                try transaction.enqueue(
                    """
                    INSERT INTO outbox (id, kind, owner, subject, user_id, deduplication_key, payload, created_at,
                        expires_at, due_at, tries, state, ended_at)
                    VALUES ($1, $2, 'x', 'x', $3, $1, $4, $5, $5, $5, 1, 'sent', $5)
                    """,
                    [
                        .text(id), .text(kind.rawValue), .text(user.description), .bytes([]),
                        .integer(Int64((time.timeIntervalSince1970 * 1000).rounded())),
                    ])
            }
        }
    }

    private static func kinds(_ state: String, of user: UserID, _ store: any Database) async throws -> [String] {
        try await store.read { transaction in
            try transaction.query(
                "SELECT kind FROM outbox WHERE user_id = $1 AND state = $2 ORDER BY kind",
                [
                    .text(user.description), .text(state),
                ]
            ).map { try $0.text(0) }
        }
    }

    /// A message of each kind that waits for Ann: from Bob, who may write to her, from Carol, who asks, from her
    /// provider, and a text with a code.
    private static func fill(_ bench: MessageBench, _ ann: Session) async throws {
        let (bob, carol) = (try await bench.people.person("bob"), try await bench.people.person("carol"))
        try await bench.permit(bob, ann)
        _ = try await bench.people.deliver()
        try await bench.send("hi", to: try await bench.open("conversation", [ann], by: bob), by: bob)
        try await bench.send("offer", to: try await bench.open("call", [ann], by: bob), by: bob)
        try await bench.people.request(carol, ann)
        let (keys, now, service) = (bench.people.keys, bench.people.clock.now, bench.context)
        let note = try UserNotification(
            id: UUID().uuidString, title: "News", body: "for Ann", data: .object([]))
        try await bench.context.store.write { transaction in
            guard let user = try UserRepository(transaction).find(ann.userID) else { return }
            let (id, text) = (OutboxMessageID(UUID()), OutboxMessageID(UUID()))
            _ = try NotificationRepository(transaction, keys: keys).insert(note, as: id, to: user)
            _ = try PushNotifications(service).queue(note, id, to: user, in: transaction)
            let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(user.id)
            _ = try OutboxRepository(transaction).insert(
                OutboxMessage(
                    id: text, kind: .phoneCode, owner: OutboxOwner(user.providerID), subject: UUID().uuidString,
                    userID: user.id, deduplicationKey: "text",
                    payload: try key.seal("+1", in: .outboxPayload, of: text),
                    createdAt: now, expiresAt: now + 60, dueAt: now))
        }
    }

    @Test(
        "are dropped when they are leased, before a batch deletes them, and sent to a user who was not erased",
        arguments: StoreKind.shared, [true, false])
    func dropped(kind: StoreKind, isErased: Bool) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (store, ann) = (bench.context.store, try await bench.people.person("ann"))
            try await Self.fill(bench, ann)
            try await Self.plant(EraseRest.atOnce, of: ann.userID, store)
            let sent = OutboxKind.allCases.filter { $0.share != .fetched && $0 != .providerEvent }
            let waiting = sent + [.notification]
            let before = bench.people.pushes.sent.count
            if isErased { _ = try await bench.context.erasePersonalData(for: ann) }
            #expect(Set(try await Self.kinds("waiting", of: ann.userID, store)) == Set(waiting.map(\.rawValue)))
            _ = try await bench.people.deliver()
            // The push of a message waits for further ones, that of a missed call for the end of the ringing.
            bench.people.clock.advance(61)
            _ = try await bench.people.deliver()
            let pushes = bench.people.pushes.endpoints.dropFirst(before).count { $0 == "ann" }
            #expect(pushes == (isErased ? 0 : sent.count { $0.pushWords != nil } + 1))
            if isErased {
                #expect(Set(try await Self.kinds("expired", of: ann.userID, store)) == Set(sent.map(\.rawValue)))
            }
            // No device of the user fetches the notification.
            #expect(try await Self.kinds("waiting", of: ann.userID, store) == [OutboxKind.notification.rawValue])
            let notes = try await store.read { [keys = bench.people.keys] in
                try NotificationRepository($0, keys: keys).list(of: ann.userID)
            }
            #expect(notes.count == (isErased ? 0 : 1))
        }
    }

    @Test(
        "are deleted in bounded batches, however many they are, and events that report the erasure stay",
        arguments: StoreKind.shared)
    func batches(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (user, now) = (try await bench.people.person("ann"), bench.people.clock.now)
            let (store, id) = (bench.context.store, user.userID)
            let batch = MaintenanceBatch(limit: 100)
            try await Self.plant(250, of: id, store)
            try await Self.plant(100, .providerEvent, of: id, at: now - 1, store)
            let counter = StatementCounter(store)
            _ = try await bench.anotherNode(over: counter).context.erasePersonalData(for: user)
            #expect(counter.take().rows < 2 * EraseRest.atOnce)
            try await Self.plant(1, .providerEvent, of: id, at: now, store)
            let counted = bench.anotherNode(over: counter).context
            var (rounds, isUnderWay) = (0, true)
            while isUnderWay, rounds < 20 {
                _ = counter.take()
                _ = try await counted.maintain { try EraseRest.task.batch($0, batch, &$1) }
                #expect(counter.take().rows <= batch.limit + 10)
                isUnderWay = try await store.read { try ErasureRepository($0).isUnderWay(id) }
                rounds += 1
            }
            #expect(!isUnderWay && rounds >= 3)
            #expect(try await Self.kinds("sent", of: id, store) == [OutboxKind.providerEvent.rawValue])
        }
    }
}
