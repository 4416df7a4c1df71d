import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table permission_cuts")
struct PermissionRevocationTableTests {
    private static func request(
        _ tables: TestTables, from requester: UserID, to recipient: UserID, target: String, lasts: TimeInterval = 3600
    ) -> MessagingPermission {
        MessagingPermission(
            id: AuthorizationID(UUID()), providerID: tables.provider, requesterID: requester, recipientID: recipient,
            target: .of(target), isDelivered: true, state: .request, createdAt: TestTables.now,
            expiresAt: TestTables.now.addingTimeInterval(lasts), changedAt: TestTables.now, sealedTo: [1],
            sealedEvent: nil)
    }

    private static func approve(_ request: MessagingPermission, in transaction: any Transaction) throws {
        var moved = request
        moved.state = .approval
        _ = try AuthorizationRepository(transaction).move(moved, from: .request)
    }

    /// Permissions of a user, on each side by turns: the first with another user, the rest with new ones.
    private static func plant(
        _ tables: TestTables, _ count: Int, of user: UserID, and other: UserID
    ) async throws {
        let partners = [other] + (1..<count).map { _ in UserID(UUID()) }
        let requests = partners.enumerated().map { number, partner in
            number.isMultiple(of: 2)
                ? request(tables, from: user, to: partner, target: "\(number)")
                : request(tables, from: partner, to: user, target: "\(number)")
        }
        try await tables.store.write { transaction in
            for partner in partners.dropFirst() {
                try UserRepository(transaction).enqueueInsert(tables.person(partner, "\(partner)"))
            }
            for request in requests {
                _ = try AuthorizationRepository(transaction).insert(request)
                try approve(request, in: transaction)
            }
        }
    }

    private static func stored(_ state: MessagingPermission.State, _ tables: TestTables) async throws -> Int {
        try await tables.store.read {
            try $0.value("SELECT COUNT(*) FROM authorizations WHERE state = $1", [state.value]) ?? -1
        }
    }

    @Test(
        "What a cut has ended is over for each statement, whatever its row says", arguments: StoreKind.shared,
        [true, false])
    func unswept(kind: StoreKind, requesterIsCut: Bool) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let (cut, other) = requesterIsCut ? (tables.user, eve) : (eve, tables.user)
            try await Self.plant(tables, 2 * PermissionRevocationRepository.atOnce + 20, of: cut, and: other)
            let (open, late) = (
                Self.request(tables, from: tables.user, to: eve, target: "open"),
                Self.request(tables, from: tables.user, to: eve, target: "late", lasts: -1)
            )
            let count = try await tables.write { transaction in
                let records = AuthorizationRepository(transaction)
                for request in [open, late] { _ = try records.insert(request) }
                return try records.withdraw(allOf: cut, because: .banned, at: TestTables.now)
            }
            #expect(count == 121)
            #expect(try await Self.stored(.approval, tables) >= 20)
            let (counted, given, asked, listed, between) = try await tables.read { transaction in
                let records = AuthorizationRepository(transaction)
                func listed(_ state: MessagingPermission.State?) throws -> [MessagingPermission.State] {
                    try records.list(of: cut, box: .outgoing, state: state, limit: 200).map(\.state)
                }
                return try (
                    records.countOpen(of: tables.user) + records.countOpen(of: eve),
                    records.permissions(askedBy: tables.user, of: eve).count
                        + records.permissions(askedBy: eve, of: tables.user).count,
                    records.storedOpen(between: tables.user, and: eve).filter { $0.state == .request }.map(\.id),
                    [listed(.approval).count, listed(.banned).count, listed(.expired).count],
                    records.between(tables.user, and: eve, targets: [.of("0")], declinedSince: .distantPast)
                        .map(\.state)
                )
            }
            #expect(counted == 0 && given == 0)
            // Nobody answered it in time; it is not the cut that ended it.
            #expect(asked == [late.id])
            #expect(listed == (requesterIsCut ? [0, 61, 1] : [0, 60, 0]))
            #expect(between.filter(\.isOpen).count == 1)
        }
    }

    @Test(
        "Rows follow in batches, with those that are added behind the cut; then it is done", arguments: StoreKind.shared
    )
    func following(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            try await Self.plant(tables, 400, of: eve, and: tables.user)
            try await tables.write {
                _ = try AuthorizationRepository($0).withdraw(allOf: eve, because: .cancelled, at: TestTables.now)
            }
            var rounds: [Int] = []
            for _ in 0..<20 {
                let outcome = try await tables.write {
                    try PermissionRevocationRepository($0).carryOut(MaintenanceBatch(limit: 200))
                }
                rounds.append(outcome.rows)
                if outcome.isFinished { break }
            }
            #expect(rounds == [200, 100, 0, 0])
            #expect(try await Self.stored(.cancelled, tables) == 400)
            let rows = try await tables.store.read {
                try $0.value("SELECT COUNT(*) FROM authorization_rows WHERE type = 'CANCELLED'", as: Int.self)
            }
            #expect(rows == 400)
            // As a transaction would that had looked before the cut.
            let late = Self.request(tables, from: tables.user, to: eve, target: "late")
            try await tables.write { _ = try AuthorizationRepository($0).insert(late) }
            try await tables.sql("UPDATE authorizations SET accepter_generation = 0 WHERE state = 'REQUEST'")
            try await tables.sql("UPDATE permission_cuts SET due_at = at, at = at - 60000")
            for expected in [1, 0, 0] {
                let outcome = try await tables.write {
                    try PermissionRevocationRepository($0).carryOut(MaintenanceBatch())
                }
                #expect(outcome.rows == expected)
            }
            #expect(try await Self.stored(.request, tables) == 0)
            let due = try await tables.store.read {
                try $0.value("SELECT COUNT(*) FROM permission_cuts WHERE due_at IS NOT NULL", as: Int.self)
            }
            #expect(due == 0)
        }
    }

    @Test("What begins behind a cut is not ended by it, and is by the next one", arguments: StoreKind.shared)
    func generations(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let (first, second) = (
                Self.request(tables, from: tables.user, to: eve, target: "a"),
                Self.request(tables, from: eve, to: tables.user, target: "b")
            )
            func states() async throws -> [MessagingPermission.State?] {
                try await tables.read { transaction in
                    try [first, second].map { try AuthorizationRepository(transaction).find($0.id)?.state }
                }
            }
            try await tables.write { transaction in
                let records = AuthorizationRepository(transaction)
                _ = try records.insert(first)
                _ = try records.withdraw(allOf: tables.user, because: .banned, at: TestTables.now)
                _ = try records.insert(second)
                _ = try PermissionRevocationRepository(transaction).carryOut(MaintenanceBatch())
            }
            #expect(try await states() == [.banned, .request])
            try await tables.write {
                _ = try AuthorizationRepository($0).withdraw(allOf: tables.user, because: .banned, at: TestTables.now)
            }
            #expect(try await states() == [.banned, .banned])
        }
    }

    @Test("An erased user's ended permissions keep the word of the cut for the other side", arguments: StoreKind.shared)
    func erased(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let bob = try await tables.newUser("bob")
            try await Self.plant(tables, 1, of: eve, and: tables.user)
            try await Self.plant(tables, 1, of: tables.user, and: bob)
            try await tables.write { transaction in
                for other in [eve, bob] {
                    _ = try AuthorizationRepository(transaction).withdraw(
                        allOf: other, because: .banned, at: TestTables.now)
                }
            }
            // As if they were among the rows that are left for later.
            try await tables.sql("UPDATE authorizations SET state = 'APPROVAL'")
            try await tables.write {
                try AuthorizationRepository($0).erase(tables.user, at: TestTables.now.addingTimeInterval(1))
            }
            #expect(try await Self.stored(.approval, tables) == 0)
            #expect(try await Self.stored(.cancelled, tables) == 0)
            // The one that the erased user requested is deleted.
            #expect(try await Self.stored(.banned, tables) == 1)
        }
    }
}
