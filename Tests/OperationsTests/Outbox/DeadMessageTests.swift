import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Dead messages")
struct DeadMessageTests {
    /// Inserts dead messages about a user.
    private static func leave(
        _ count: Int, about user: User, expiring: TimeInterval, in store: any Database
    ) async throws {
        try await store.write { transaction in
            for _ in 0..<count {
                let id = OutboxMessageID(UUID())
                _ = try OutboxRepository(transaction).insert(
                    OutboxMessage(
                        id: id, kind: .authorization, owner: OutboxOwner(user.providerID), subject: "\(id) REQUEST",
                        userID: user.id, deduplicationKey: "dead \(id)", payload: [], createdAt: transaction.now,
                        expiresAt: transaction.now.addingTimeInterval(expiring), dueAt: transaction.now))
                try transaction.execute(
                    "UPDATE outbox SET state = 'dead', tries = 5, reason = 'down', ended_at = created_at WHERE id = $1",
                    [.text(id.description)])
            }
        }
    }

    @Test("are requeued all at once, or those about one user, unless they have expired", arguments: StoreKind.shared)
    func retry(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let device = try await fixture.connectNewDevice()
            let users = [
                try await fixture.opened("alice", on: device).session.userID,
                try await fixture.opened("bob", on: device).session.userID,
            ]
            let (alice, bob) = (
                try await fixture.admin.readUser(users[0].description).user,
                try await fixture.admin.readUser(users[1].description).user
            )
            try await Self.leave(3, about: alice, expiring: 3600, in: fixture.store)
            try await Self.leave(2, about: alice, expiring: -1, in: fixture.store)
            // More than one transaction requeues.
            try await Self.leave(205, about: bob, expiring: 3600, in: fixture.store)
            let name = users[0].description
            #expect(try await fixture.admin.previewRetry(of: name) == 3)
            #expect(try await fixture.admin.previewRetry() == 208)
            #expect(try await fixture.admin.listOutbox(.dead, of: name, limit: 99).count == 5)
            #expect(try await fixture.admin.retryDeadMessages(of: name) == 3)
            let waiting = try await fixture.admin.listOutbox(.waiting, of: name, limit: 99)
            #expect(waiting.count == 3 && waiting.allSatisfy { $0.tries == 0 && $0.userID == users[0] })
            #expect(try await fixture.admin.retryDeadMessages() == 205)
            #expect(try await fixture.admin.previewRetry() == 0)
            #expect(try await fixture.admin.retryDeadMessages() == 0)
            #expect(try await fixture.admin.listOutbox(.dead, limit: 999).count == 2)
            await #expect(throws: Refusal(.notFound, "")) { try await fixture.admin.retryDeadMessages(of: "x/nobody") }
        }
    }

    @Test("are each requeued once, also when those of the first pages are refused again at once")
    func refusedAgain() async throws {
        try await ServiceFixture.run(on: .sqlite) { fixture in
            let id = try await fixture.opened("alice", on: try await fixture.connectNewDevice()).session.userID
            let user = try await fixture.admin.readUser(id.description).user
            try await Self.leave(405, about: user, expiring: 3600, in: fixture.store)
            try await fixture.store.write { transaction in
                try transaction.execute(
                    """
                    CREATE TRIGGER refused AFTER UPDATE OF state ON outbox WHEN NEW.state = 'waiting' BEGIN
                        UPDATE outbox SET state = 'dead', ended_at = created_at WHERE id = NEW.id;
                    END
                    """)
            }
            #expect(try await fixture.admin.retryDeadMessages() == 405)
            let retried = try await fixture.store.read { transaction in
                try transaction.query("SELECT subject FROM audit_entries WHERE event = 'outbox_message_retried'").map {
                    try $0.text(0)
                }
            }
            #expect(retried.count == 405 && Set(retried).count == 405)
            #expect(try await fixture.admin.previewRetry() == 405)
        }
    }

    @Test("about a user are listed page by page, newest first")
    func pages() async throws {
        try await ServiceFixture.run { fixture in
            let id = try await fixture.opened("alice", on: try await fixture.connectNewDevice()).session.userID
            let user = try await fixture.admin.readUser(id.description).user
            for _ in 0..<5 {
                try await Self.leave(1, about: user, expiring: 3600, in: fixture.store)
                fixture.clock.advance(1)
            }
            let all = try await fixture.admin.listOutbox(nil, of: id.description, limit: 99)
            let first = try await fixture.admin.listOutbox(nil, of: id.description, limit: 2)
            let rest = try await fixture.admin.listOutbox(
                nil, of: id.description, limit: 99, after: first.last?.id.description)
            #expect(all.count == 5 && (first + rest).map(\.id) == all.map(\.id))
            #expect(all.map(\.createdAt) == all.map(\.createdAt).sorted(by: >))
        }
    }
}
