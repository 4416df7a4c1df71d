import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("A search in the audit log")
struct AuditSearchTests {
    @Test("finds by subject, event and time, across all that is read at once, newest last", arguments: StoreKind.shared)
    func finds(kind: StoreKind) async throws {
        try await AuditTests.run(on: kind) { store, clock, seal in
            let (ada, ben) = (UserID(UUID()), UserID(UUID()))
            @Sendable func append(_ event: AuditRepository.Event, _ user: UserID) async throws {
                try await store.write {
                    try AuditRepository($0).append(
                        event, subject: AuditSubject(.user, user), actor: "admin x", id: UUID())
                }
            }
            try await append(.userErased, ada)
            clock.advance(1)
            try await append(.phoneVerified, ben)
            clock.advance(3600)
            try await AuditTests.append(store, 4100)
            try await append(.phoneVerified, ada)
            _ = try await seal(signingAll: true)
            while try await store.read({ try AuditChainRepository($0).hasUnchained() }) { _ = try await seal() }
            // Not chained yet.
            try await append(.phoneFrozen, ada)
            let read = ReadAudit(store: store)
            func events(_ filter: ReadAudit.Filter, before end: Int64? = nil, count: Int = 10) async throws -> [String]
            {
                try await read.search(filter, before: end, count: count).map(\.entry.event)
            }
            let all = ["user_erased", "phone_verified", "phone_frozen"]
            #expect(try await events(ReadAudit.Filter(subject: ada.description)) == all)
            #expect(try await events(ReadAudit.Filter(subject: "user \(ada)")) == all)
            #expect(try await events(ReadAudit.Filter(subject: ada.description), count: 2) == Array(all.suffix(2)))
            #expect(try await events(ReadAudit.Filter(subject: String(ada.description.dropFirst()))).isEmpty)
            #expect(try await events(ReadAudit.Filter(event: "phone_verified")).count == 2)
            #expect(try await events(ReadAudit.Filter(event: "phone_verified", since: clock.now)).count == 1)
            #expect(try await events(ReadAudit.Filter(subject: ben.description, since: clock.now)).isEmpty)
            // The first page's first entry continues it.
            let page = try await read.search(try ReadAudit.Filter(event: "session_ended"), count: 3)
            let first = try #require(page.first?.place?.sequence)
            let before = try await read.search(try ReadAudit.Filter(event: "session_ended"), before: first, count: 3)
            #expect(before.compactMap { $0.place?.sequence } == [first - 3, first - 2, first - 1])
            #expect(try await events(ReadAudit.Filter(subject: ada.description), before: 2) == ["user_erased"])
            // A number beyond the end is as good as the end, and nothing is before the first entry.
            let last = try #require(try await read.tail(1, unchained: false).last?.place?.sequence)
            for end in [last + 1, 1_234_567, .max] {
                let found = try await read.search(try ReadAudit.Filter(), before: end, count: 2)
                #expect(found.compactMap { $0.place?.sequence } == [last - 1, last], "\(end)")
                #expect(try await events(ReadAudit.Filter(event: "phone_verified"), before: end).count == 2, "\(end)")
            }
            for end in [1, 0, -1, Int64.min] {
                #expect(try await events(ReadAudit.Filter(), before: end).isEmpty, "\(end)")
            }
            for text in [ada.description.uppercased(), "user \(ada.description.uppercased())"] {
                #expect(try await events(ReadAudit.Filter(subject: text)) == all, "\(text)")
            }
            #expect(throws: Refusal(.malformedRequest, "")) { _ = try ReadAudit.Filter(event: "phone_verifed") }
        }
    }

    @Test("by an id alone finds subjects of every kind, newest last, and goes back page by page")
    func kinds() async throws {
        try await AuditTests.run { store, _, seal in
            let (id, kinds) = (UUID().uuidString.lowercased(), AuditSubject.Kind.allCases)
            for kind in kinds {
                try await AuditTests.append(store, 3)
                try await store.write {
                    try AuditRepository($0).append(
                        .sessionEnded, subject: AuditSubject(kind, id), actor: "service", id: UUID())
                }
                try await seal(signingAll: true)
            }
            let read = ReadAudit(store: store)
            let found = try await read.search(try ReadAudit.Filter(subject: id), count: 100)
            #expect(found.map(\.entry.subject) == kinds.map { "\($0.rawValue) \(id)" })
            let page = try await read.search(try ReadAudit.Filter(subject: id), count: 4)
            #expect(page.map(\.entry.id) == found.suffix(4).map(\.entry.id))
            let before = try await read.search(
                try ReadAudit.Filter(subject: id), before: page.first?.place?.sequence, count: 4)
            #expect(before.map(\.entry.id) == found.dropLast(4).suffix(4).map(\.entry.id))
            #expect(try await read.search(try ReadAudit.Filter(subject: id), before: .min, count: 4).isEmpty)
        }
    }
}
