import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Pages of the audit log")
struct AuditBrowsingTests {
    private static func admin(_ store: any Database, _ clock: AuditTests.Clock) -> Administration {
        Administration(store: store, environment: Environment(now: { clock.now }), actor: "admin test") {
            throw Refusal(.unavailable, "")
        }
    }

    private static func filter(
        subject: String? = nil, event: String? = nil, actor: String? = nil, since: Date? = nil
    ) throws -> ReadAudit.Filter {
        try ReadAudit.Filter(wholeSubject: subject, event: event, actor: actor, since: since)
    }

    /// All entries that pass, page by page, and the number of pages.
    private static func all(
        _ filter: ReadAudit.Filter, count: Int, _ admin: Administration
    ) async throws -> (ids: [String], pages: Int) {
        var (ids, pages, end) = ([String](), 0, Int64?.none)
        for _ in 0..<50 {
            let page = try await admin.browseAudit(filter, before: end, count: count)
            ids += page.entries.map(\.entry.id)
            pages += 1
            end = page.next
            if end == nil { break }
        }
        #expect(end == nil)
        return (ids, pages)
    }

    @Test("have every entry once, newest first, by subject, event and actor", arguments: StoreKind.shared)
    func pages(kind: StoreKind) async throws {
        try await AuditTests.run(on: kind) { store, clock, seal in
            let user = AuditSubject(.user, UserID(UUID()))
            func append(_ event: AuditRepository.Event, by actor: String) async throws {
                // Entries of one moment have no order.
                clock.advance(1)
                try await store.write {
                    try AuditRepository($0).append(event, subject: user, actor: actor, id: UUID())
                }
            }
            try await append(.userErased, by: "admin a")
            try await AuditTests.append(store, 4100)
            for _ in 0..<5 { try await append(.phoneVerified, by: "admin a") }
            try await append(.phoneVerified, by: "admin b")
            _ = try await seal(signingAll: true)
            while try await store.read({ try AuditChainRepository($0).hasUnchained() }) { _ = try await seal() }
            // Not chained yet, and so on the first page only.
            try await append(.phoneFrozen, by: "admin a")
            let admin = Self.admin(store, clock)
            for (filter, count) in [
                (try Self.filter(subject: user.description), 8), (try Self.filter(event: "phone_verified"), 6),
                (try Self.filter(actor: "admin a"), 7), (try Self.filter(), 4108),
                (try Self.filter(subject: user.description, event: "phone_verified"), 6),
                (try Self.filter(event: "phone_verified", actor: "admin b"), 1),
                (try Self.filter(subject: user.description, actor: "admin c"), 0),
            ] {
                for size in [3, 200] where count < 1000 || size == 200 {
                    let found = try await Self.all(filter, count: size, admin)
                    #expect(found.ids.count == count && Set(found.ids).count == count)
                }
            }
            let first = try await admin.browseAudit(try Self.filter(subject: user.description), count: 3)
            #expect(first.entries.map(\.entry.event) == ["phone_frozen"] + Array(repeating: "phone_verified", count: 3))
            let nobody = try await admin.browseAudit(try Self.filter(actor: "admin c"), count: 3)
            #expect(nobody.entries.isEmpty && nobody.next == nil)
            // No index is for two conditions: a page reads a part of the entries with one, and says where to go on.
            let both = try Self.filter(event: "user_erased", actor: "service")
            let rare = try await admin.browseAudit(both, count: 3)
            #expect(rare.entries.isEmpty && rare.next != nil)
            #expect(try await Self.all(both, count: 3, admin).pages == 3)
            clock.advance(60)
            let late = try await admin.browseAudit(try Self.filter(since: clock.now), count: 3)
            #expect(late.entries.isEmpty && late.next == nil)
        }
    }

    @Test("are verified as the command does, unless the log is too long")
    func verification() async throws {
        try await AuditTests.run { store, clock, seal in
            try await AuditTests.append(store, 30)
            _ = try await seal(signingAll: true)
            let admin = Self.admin(store, clock)
            let report = try await admin.verifyAudit(keys: AuditTests.keys, atMost: 30, by: SharedVerification())
            #expect(try await report == AuditTests.verify(store))
            #expect(report?.defect == nil && report?.entries == 30)
            #expect(try await admin.verifyAudit(keys: AuditTests.keys, atMost: 29, by: SharedVerification()) == nil)
            try await store.write { try $0.execute("UPDATE audit_entries SET actor = 'x' WHERE sequence = 7") }
            #expect(
                try await admin.verifyAudit(keys: AuditTests.keys, atMost: 30, by: SharedVerification())?.defect != nil)
        }
    }
}
