import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Plans of statements")
struct StatementPlanTests {
    @Test("A walk through a table that grows is found, on either engine", arguments: StoreKind.shared)
    func walks(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            let plans = StatementPlans(kind)
            for (sql, isWalk) in [
                ("SELECT id FROM sessions WHERE external_id = 'ada'", true),
                ("SELECT s.id FROM users u JOIN sessions s ON s.external_id = u.external_id WHERE u.id = 'x'", true),
                ("UPDATE outbox SET tries = 1 WHERE reason = 'x'", true),
                ("SELECT id FROM sessions WHERE id = 'x'", false),
                ("SELECT COUNT(*) FROM audit_entries WHERE sequence IS NULL", false),
                ("SELECT slug FROM providers WHERE name = 'x'", false),
            ] {
                let walks = try await plans.walks(sql, [], in: store)
                #expect(walks.isEmpty != isWalk, "\(sql)")
            }
        }
    }

    @Test("Open sessions are found by indexes that hold no ended one", arguments: StoreKind.shared)
    func openSessions(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            let plans = StatementPlans(kind)
            // Which of the two an engine takes for a user on a device depends on its statistics.
            for (condition, index) in [
                ("user_id = 'x' AND device_id = 'y'", "sessions_open"), ("user_id = 'x'", "sessions_open "),
                ("device_id = 'y'", "sessions_open_by_device "),
            ] {
                let sql = "SELECT id FROM sessions WHERE \(condition) AND state <> 'unauthenticated'"
                let plan = try await plans.plan(of: sql, [], in: store)
                #expect(plan.contains { $0.contains(index) }, "\(plan)")
            }
        }
    }

    @Test("The next provider with waiting events is found by an index of its own", arguments: StoreKind.shared)
    func waitingEvents(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            let plans = StatementPlans(kind)
            let isMessage =
                "state = 'waiting' AND kind = 'phone_code' AND kind <> 'provider_event' AND kind <> 'polled_event' "
                + "AND kind <> 'notification'"
            let isEvent = "state = 'waiting' AND kind = 'provider_event'"
            for (sql, index) in [
                ("SELECT MIN(subject) FROM outbox WHERE \(isEvent)", "outbox_events_waiting"),
                ("SELECT MIN(subject) FROM outbox WHERE \(isEvent) AND subject > 'x'", "outbox_events_waiting"),
                ("SELECT MIN(owner) FROM outbox WHERE \(isMessage) AND owner > 'x'", "outbox_by_owner"),
                (
                    "SELECT subject FROM outbox WHERE \(isEvent) AND due_at > 0 AND due_at >= 1 AND due_at <= 2",
                    "outbox_events_due"
                ),
                (
                    "SELECT due_at FROM outbox WHERE \(isMessage) AND due_at > 5 AND lease IS NULL "
                        + "ORDER BY due_at LIMIT 1000", "outbox_messages_waiting"
                ),
            ] {
                let plan = try await plans.plan(of: sql, [], in: store)
                #expect(plan.contains { $0.contains(index) }, "\(plan)")
            }
        }
    }

    @Test("What operators look for is found by indexes that begin with it", arguments: StoreKind.shared)
    func operators(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let plans = StatementPlans(kind)
            let (provider, key, user) = (tables.provider, tables.providerKey, tables.user)
            var questions: [(index: String, ask: @Sendable (any Transaction) throws -> Void)] = [
                (
                    "audit_entries_by_event",
                    { _ = try AuditChainRepository($0).links(of: .event("x"), before: 9, limit: 5) }
                ),
                (
                    "audit_entries_by_actor",
                    { _ = try AuditChainRepository($0).links(of: .actor("x"), before: 9, limit: 5) }
                ),
                (
                    "audit_entries_by_subject",
                    { _ = try AuditChainRepository($0).links(of: .subject("x"), before: 9, limit: 5) }
                ),
                (
                    "sessions_open_by_key_and_id",
                    { _ = try SessionRepository($0).listOpen(limit: 5, of: .provider(provider)) }
                ), ("sessions_open_by_key_and_id", { _ = try SessionRepository($0).listOpen(limit: 5) }),
                ("sessions_ended ", { _ = try SessionRepository($0).listEnded(limit: 5) }),
                ("sessions_ended_by_key", { _ = try SessionRepository($0).listEnded(limit: 5, of: .key(key)) }),
                (
                    "sessions_by_user",
                    { _ = try SessionRepository($0).list(of: user, after: .start, since: nil, limit: 5) }
                ),
                ("sign_ins_by_user", { _ = try SignInRecordRepository($0).list(of: user, after: .start, limit: 5) }),
                ("sign_ins_by_key", { _ = try SignInRecordRepository($0).accepted(by: key, after: nil, limit: 5) }),
            ]
            for state in OutboxMessage.State.allCases {
                let index =
                    switch state {
                    case .dead: "outbox_dead"
                    case .waiting, .expired, .dropped: "outbox_unsent"
                    case .sent: "outbox_by_time"
                    }
                questions.append((index, { _ = try OutboxRepository($0).list(state, limit: 5) }))
            }
            for (index, question) in questions {
                let found = try await plans.plans(of: question, in: tables.store)
                #expect(found.contains { $0.contains { $0.contains(index) } }, "\(index): \(found)")
            }
        }
    }

    @Test("The cut whose turn it is is found by an index", arguments: StoreKind.shared)
    func cutsByTurn(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            let sql = """
                SELECT gate_id FROM cuts WHERE due_at <= 1 OR due_at > 2 OR holder = 'x'
                ORDER BY due_at, kind, gate_id, generation LIMIT 1
                """
            let plan = try await StatementPlans(kind).plan(of: sql, [], in: store)
            #expect(plan.contains { $0.contains("cuts_by_turn") }, "\(plan)")
        }
    }

    @Test("What is purged is found by its age", arguments: StoreKind.shared)
    func purges(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            let plans = StatementPlans(kind)
            try await store.write { transaction in
                let transaction = plans.recording(transaction)
                try SessionRepository(transaction).purgeEnded(before: transaction.now)
                try SessionRepository(transaction).purgeExpired(before: transaction.now)
                try NonceRepository(transaction).purgeIdentifiers(expiredBefore: transaction.now)
                try RateRepository(transaction).purge(before: transaction.now)
                try PhoneFailureRepository(transaction).purge(before: transaction.now)
                try PhoneVerificationRepository(transaction).purge(expiredBefore: transaction.now)
                try PhoneSendRepository(transaction).purge(before: transaction.now)
                try PhoneSendRepository(transaction).dropCounters()
                try PhoneSendRepository(transaction).purgeSums(before: transaction.now)
                try PhoneTallyRepository(transaction).purge()
                _ = try CertificateUpkeep(transaction).purge(endedBefore: transaction.now)
                _ = try CertificateUpkeep(transaction).unadmit(issuedBefore: transaction.now)
                _ = try AuditAnchorRepository(transaction).deleteCovered(MaintenanceBatch())
                try AuthorizationRepository(transaction).expire(limit: 1000)
                try IdentityCardRepository(transaction).dropInput(before: transaction.now)
                try OutboxRepository(transaction).purge(endedBefore: transaction.now)
                try RepeatedRequestRepository(transaction).purge()
                try BanMaintenance(transaction).purge()
                _ = try MessageStreamRepository(transaction).empty(MaintenanceBatch())
                try StreamUserRepository(transaction).purgeDeletions(before: transaction.now)
                try StreamUserRepository(transaction).purgeMessageTags(before: transaction.now)
                try StreamUserRepository(transaction).purgeNotifications(before: transaction.now)
                try PresenceRepository(transaction).purge(seenBefore: transaction.now)
                _ = try BanMaintenance(transaction).purge(MaintenanceBatch())
                try SignInRecordRepository(transaction).purge(before: transaction.now)
                try SignInTallyRepository(transaction).purge(before: transaction.now)
            }
            try await plans.requireNoScan(store)
        }
    }
}
