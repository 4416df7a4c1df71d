import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables authorizations and authorization_rows")
struct AuthorizationTableTests {
    private static func request(
        _ tables: TestTables, from requester: UserID? = nil, to recipient: UserID?, target: String = "target",
        age: TimeInterval = 0, lasts: TimeInterval = 3600
    ) -> MessagingPermission {
        let at = TestTables.now.addingTimeInterval(-age)
        return MessagingPermission(
            id: AuthorizationID(UUID()), providerID: tables.provider, requesterID: requester ?? tables.user,
            recipientID: recipient, target: .of(target), isDelivered: recipient != nil, state: .request,
            createdAt: at, expiresAt: at.addingTimeInterval(lasts), changedAt: at, sealedTo: [1], sealedEvent: nil)
    }

    private static func moved(_ authorization: MessagingPermission, _ state: MessagingPermission.State)
        -> MessagingPermission
    {
        var moved = authorization
        (moved.state, moved.changedAt) = (state, TestTables.now)
        return moved
    }

    @Test("A request is read as it was written; one to the same target is open at a time", arguments: StoreKind.shared)
    func reading(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let (first, twin) = (Self.request(tables, to: eve), Self.request(tables, to: eve))
            let answers = try await tables.write { transaction in
                let records = AuthorizationRepository(transaction)
                return try [
                    records.insert(first), records.insert(twin),
                    records.move(Self.moved(first, .rejected), from: .request),
                    records.move(Self.moved(first, .approval), from: .request), records.insert(twin),
                ]
            }
            #expect(answers == [true, false, true, false, true])
            let (found, between, rows, stranger) = try await tables.read { transaction in
                let records = AuthorizationRepository(transaction)
                return try (
                    records.find(twin.id),
                    records.between(tables.user, and: eve, targets: [.of("target")], declinedSince: .distantPast),
                    AuthorizationRowRepository(transaction).list(of: first.id),
                    records.between(eve, and: nil, targets: [.of("target")], declinedSince: .distantPast)
                )
            }
            #expect(found == twin)
            #expect(Set(between.map(\.id)) == [first.id, twin.id])
            #expect(rows.map(\.type) == [.request, .rejected])
            #expect(rows.map(\.recipientID) == [eve, tables.user])
            #expect(rows.map(\.isSent) == [false, false])
            #expect(stranger.isEmpty)
        }
    }

    @Test("A box is paged newest first, by the state that the clock gives", arguments: StoreKind.shared)
    func paging(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let requests = (0..<5).map {
                Self.request(tables, to: eve, target: "\($0)", age: Double($0), lasts: $0 == 4 ? 1 : 3600)
            }
            try await tables.write { transaction in
                for request in requests { _ = try AuthorizationRepository(transaction).insert(request) }
            }
            var (mark, seen) = ((at: Date, id: AuthorizationID)?.none, [AuthorizationID]())
            for _ in 0..<5 {
                let page = try await tables.read { [mark] in
                    try AuthorizationRepository($0).list(of: eve, box: .incoming, state: nil, after: mark, limit: 2)
                }
                seen += page.map(\.id)
                guard let last = page.last else { break }
                mark = (last.createdAt, last.id)
            }
            #expect(seen == requests.map(\.id))
            let (expired, open, oldest, none) = try await tables.read { transaction in
                let records = AuthorizationRepository(transaction)
                return try (
                    records.list(of: tables.user, box: .outgoing, state: .expired, limit: 9).map(\.id),
                    records.countOpen(of: eve),
                    records.oldest(ofNewest: 2, askedBy: tables.user, since: .distantPast),
                    records.oldest(ofNewest: 6, askedBy: tables.user, since: .distantPast)
                )
            }
            #expect(expired == [requests[4].id])
            #expect(open == 4)
            #expect(oldest == requests[1].createdAt)
            #expect(none == nil)
        }
    }

    @Test("A box is paged whole where many were requested at one moment", arguments: StoreKind.shared)
    func pagingOneMoment(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let requests = (0..<7).map { Self.request(tables, to: eve, target: "\($0)", age: $0 < 5 ? 1 : 0) }
            try await tables.write { transaction in
                for request in requests { _ = try AuthorizationRepository(transaction).insert(request) }
            }
            var (mark, seen) = ((at: Date, id: AuthorizationID)?.none, [MessagingPermission]())
            for _ in 0..<4 {
                let page = try await tables.read { [mark] in
                    try AuthorizationRepository($0).list(of: eve, box: .incoming, state: nil, after: mark, limit: 2)
                }
                seen += page
                mark = page.last.map { ($0.createdAt, $0.id) }
            }
            let expected = requests.sorted {
                ($0.createdAt, $0.id.description) > ($1.createdAt, $1.id.description)
            }
            #expect(seen.map(\.id) == expected.map(\.id))
        }
    }

    @Test("Unanswered requests of one user expire without those of others", arguments: StoreKind.shared)
    func expiryOfOne(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let (own, other) = (
                Self.request(tables, to: eve, age: 60, lasts: 1),
                Self.request(tables, from: eve, to: tables.user, target: "b", age: 90, lasts: 1)
            )
            let expired = try await tables.write { transaction in
                let records = AuthorizationRepository(transaction)
                for request in [own, other] { _ = try records.insert(request) }
                return try [
                    records.expire(askedBy: tables.user, limit: 10), records.expire(askedBy: tables.user, limit: 10),
                    records.expire(limit: 10),
                ]
            }
            #expect(expired == [1, 0, 1])
        }
    }

    @Test(
        "What a user may still become party to ends at once, and what went unanswered expires",
        arguments: StoreKind.shared)
    func ending(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let (open, late, back) = (
                Self.request(tables, to: eve), Self.request(tables, to: eve, target: "b", age: 60, lasts: 1),
                Self.request(tables, from: eve, to: tables.user, target: "c")
            )
            let (permissions, requests, ended) = try await tables.write { transaction in
                let records = AuthorizationRepository(transaction)
                for request in [open, late, back] { _ = try records.insert(request) }
                _ = try records.move(Self.moved(back, .approval), from: .request)
                try records.expire(askedBy: tables.user, limit: 5)
                try records.expire(limit: 5)
                return (
                    try records.permissions(askedBy: eve, of: tables.user).map(\.id),
                    try records.storedOpen(between: eve, and: tables.user).filter { $0.state == .request }.map(\.id),
                    try records.withdraw(allOf: tables.user, because: .banned, at: TestTables.now)
                )
            }
            #expect(permissions == [back.id])
            #expect(requests == [open.id])
            #expect(ended == 2)
            let states = try await tables.read { transaction in
                try [open, late, back].map { try AuthorizationRepository(transaction).find($0.id)?.state }
            }
            #expect(states == [.banned, .expired, .banned])
        }
    }

    @Test("Two users have one permission, no matter which of them requested it", arguments: StoreKind.shared)
    func pair(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let (there, back) = (
                Self.request(tables, to: eve), Self.request(tables, from: eve, to: tables.user, target: "b")
            )
            try await tables.write { transaction in
                let records = AuthorizationRepository(transaction)
                for request in [there, back] { _ = try records.insert(request) }
                _ = try records.move(Self.moved(there, .approval), from: .request)
            }
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await tables.write {
                    try AuthorizationRepository($0).move(Self.moved(back, .approval), from: .request)
                }
            }
            let crossed = try #require(back.after(.approve, of: there, now: TestTables.now))
            let (open, read) = try await tables.write { transaction in
                let records = AuthorizationRepository(transaction)
                _ = try records.move(crossed, from: .request)
                return (
                    try records.storedOpen(between: tables.user, and: eve).map(\.id), try records.find(back.id)
                )
            }
            #expect(open == [there.id])
            #expect(read == crossed && read?.replacedBy == there.id && read?.state == .cancelled)
        }
    }

    @Test("A row is queued once and sent once; a message that reached nobody frees it", arguments: StoreKind.shared)
    func rows(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let request = Self.request(tables, to: eve)
            let message = OutboxMessageID(UUID())
            let row = AuthorizationRow(of: request)
            let answers = try await tables.write { transaction in
                _ = try AuthorizationRepository(transaction).insert(request)
                let rows = AuthorizationRowRepository(transaction)
                let unsent = try rows.unsent(to: eve, limit: 5)
                let queued = try [rows.queue(row, as: message), rows.queue(row, as: message)]
                try rows.release(request.id, .request)
                let again = try rows.queue(row, as: message)
                let found = try rows.find(request.id, .request)
                try rows.markSent(request.id, .request)
                try rows.release(request.id, .request)
                return (unsent, queued + [again], found, try rows.find(request.id, .request))
            }
            #expect(answers.0 == [row])
            #expect(answers.1 == [true, false, true])
            #expect(answers.2 == row)
            #expect(answers.3?.isSent == true)
            try await tables.sql("UPDATE authorization_rows SET type = 'NOTHING'")
            await #expect(throws: DamagedRow.self) {
                try await tables.read { try AuthorizationRowRepository($0).list(of: request.id) }
            }
        }
    }

    @Test("Hidden requests are delivered to nobody, and an erased user leaves no name", arguments: StoreKind.shared)
    func erasure(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let (request, back) = (
                Self.request(tables, to: eve), Self.request(tables, from: eve, to: tables.user, target: "b")
            )
            let hidden = try await tables.write { transaction in
                let records = AuthorizationRepository(transaction)
                for request in [request, back] { _ = try records.insert(request) }
                try records.hideRequests(askedBy: tables.user, from: eve)
                let hidden = try records.find(request.id)?.isDelivered
                try records.erase(tables.user, at: TestTables.now)
                return hidden
            }
            #expect(hidden == false)
            let (mine, theirs) = try await tables.read {
                (try AuthorizationRepository($0).find(request.id), try AuthorizationRepository($0).find(back.id))
            }
            #expect(mine == nil)
            #expect(theirs?.recipientID == nil)
            #expect(theirs?.requesterID == eve)
            try await tables.write { try AuthorizationRepository($0).erase(eve, at: TestTables.now) }
            #expect(try await tables.count("authorizations") == 0)
            #expect(try await tables.count("authorization_rows") == 0)
        }
    }

    @Test("What ended is forgotten with its rows, oldest first; what is open never is", arguments: StoreKind.shared)
    func forgotten(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let requests = (0..<5).map { Self.request(tables, to: eve, target: "\($0)", age: 100) }
            let ends: [MessagingPermission.State] = [.rejected, .cancelled, .expired, .approval]
            try await tables.write { transaction in
                let records = AuthorizationRepository(transaction)
                for request in requests { _ = try records.insert(request) }
                for (place, (request, state)) in zip(requests, ends).enumerated() {
                    var moved = Self.moved(request, state)
                    moved.changedAt = TestTables.now.addingTimeInterval(Double(place))
                    _ = try records.move(moved, from: .request)
                }
            }
            func purge(_ seconds: TimeInterval, after: String? = nil) async throws -> MaintenanceBatch.Outcome {
                try await tables.write {
                    try AuthorizationRepository($0).purge(
                        endedBefore: TestTables.now.addingTimeInterval(seconds),
                        MaintenanceBatch(after: after, limit: 1))
                }
            }
            #expect(try await purge(0).rows == 0)
            let first = try await purge(2)
            #expect(first.rows == 1 && !first.isFinished)
            #expect(try await tables.read { try AuthorizationRepository($0).find(requests[0].id) } == nil)
            #expect(try await purge(2, after: first.reached).rows == 1)
            #expect(try await purge(1000).rows == 1)
            #expect(try await purge(1000).rows == 0)
            #expect(try await tables.count("authorizations") == 2)
            // A request each, and the approval.
            #expect(try await tables.count("authorization_rows") == 3)
        }
    }
}
