import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table waiting_acts")
struct WaitingActTableTests {
    private static func act(
        _ kind: WaitingAct.Kind, by administrator: AdministratorID, after seconds: TimeInterval, isUrgent: Bool = false
    ) -> WaitingAct {
        WaitingAct(
            id: WaitingActID(UUID()), kind: kind, subject: "user \(UUID())", content: "{}", users: 3,
            reason: isUrgent ? "ticket:1" : nil, requestedBy: administrator,
            createdAt: TestTables.now.addingTimeInterval(seconds), isUrgent: isUrgent)
    }

    @Test("An act is found until it is deleted, by its id or by its age", arguments: StoreKind.shared)
    func acts(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let lena = Administrator(
                id: AdministratorID(UUID()), name: "lena", role: .security, account: nil, createdAt: TestTables.now,
                removedAt: nil)
            let old = Self.act(.ban, by: lena.id, after: 0)
            let urgent = Self.act(.disabling, by: lena.id, after: 1, isUrgent: true)
            let new = Self.act(.erasure, by: lena.id, after: 2)
            try await tables.write { transaction in
                try AdministratorRepository(transaction).save(lena)
                for act in [old, urgent, new] { try WaitingActRepository(transaction).insert(act) }
            }
            try await tables.read { transaction in
                let records = WaitingActRepository(transaction)
                let found = (try records.find(urgent.id), try records.find(WaitingActID(UUID())))
                #expect(found.0 == urgent && found.1 == nil)
                let lists = (try records.list(after: .distantPast), try records.list(after: old.createdAt))
                #expect(lists == ([new, urgent, old], [new, urgent]))
            }
            let deleted = try await tables.write { transaction in
                let records = WaitingActRepository(transaction)
                try records.delete(through: old.createdAt)
                return [try records.delete(old.id), try records.delete(new.id), try records.delete(new.id)]
            }
            #expect(deleted == [false, true, false])
            let left = try await tables.read { try WaitingActRepository($0).list(after: .distantPast) }
            #expect(left == [urgent])
        }
    }
}
