import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Lists of the newest")
struct NewestFirstTests {
    /// Walks a list in pages of two.
    private func walk(
        _ tables: TestTables, _ page: @Sendable @escaping (any Transaction, String?) throws -> [String]
    ) async throws -> [String] {
        var found: [String] = []
        for _ in 0..<10 {
            let cursor = found.last
            let more = try await tables.read { try page($0, cursor) }
            if more.isEmpty { return found }
            #expect(more.count <= 2)
            found += more
        }
        return found
    }

    @Test("are shown page by page, each row once, newest first and then by key", arguments: StoreKind.shared)
    func pages(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            // Some at the same moment.
            let moments = [0, 1, 1, 1, 2, 3].map { TestTables.now.addingTimeInterval($0) }
            try await tables.write { transaction in
                for (number, moment) in moments.enumerated() {
                    let at = Value.time(moment)
                    let user = UserID(UUID())
                    try UserRepository(transaction).enqueueInsert(tables.person(user, "user \(number)"))
                    try transaction.execute("UPDATE users SET created_at = $2 WHERE id = $1", [.id(user), at])
                    _ = try DeviceRepository(transaction).insert(
                        DeviceID(UUID()), userAgent: nil, presenceKey: nil, at: moment)
                    let certificate = tables.certificate(100 + number)
                    try CertificateRepository(transaction).insert(
                        certificate, subjectPublicKeyInfo: [1], authority: .of("authority"))
                    try transaction.execute(
                        "UPDATE certificates SET issued_at = $2 WHERE serial = $1", [.text(certificate.serial), at])
                    _ = try OutboxRepository(transaction).insert(
                        OutboxMessage(
                            id: OutboxMessageID(UUID()), kind: .phoneCode, owner: OutboxOwner(tables.provider),
                            subject: "x", userID: tables.user,
                            deduplicationKey: "\(number)", payload: [], createdAt: moment,
                            expiresAt: moment.addingTimeInterval(600), dueAt: moment))
                    try BanRepository(transaction).insert(
                        Ban(
                            id: BanID(UUID()), kind: .user, scope: .all,
                            reason: try #require(Ban.Reason(rawValue: "spam")),
                            actor: "admin x", createdAt: moment, endsAt: nil, lifted: nil))
                }
            }
            let lists: [(String, @Sendable (any Transaction, String?) throws -> [String], String)] = [
                ("users", { try UserRepository($0).list(limit: 2, after: $1).map(\.id.description) }, "created_at, id"),
                (
                    "devices", { try DeviceRepository($0).list(limit: 2, after: $1).map(\.id.description) },
                    "created_at, id"
                ),
                (
                    "certificates", { try CertificateRepository($0).list(limit: 2, after: $1).map(\.serial) },
                    "issued_at, serial"
                ),
                (
                    "outbox", { try OutboxRepository($0).list(nil, limit: 2, after: $1).map(\.id.description) },
                    "created_at, id"
                ),
                (
                    "bans", { try BanRepository($0).list(isActive: true, limit: 2, after: $1).map(\.id.description) },
                    "created_at, id"
                ),
            ]
            for (table, page, order) in lists {
                let key = order.split(separator: " ").last.map(String.init) ?? ""
                let all: [String] = try await tables.store.read {
                    try $0.values("SELECT \(key) FROM \(table) ORDER BY \(order)")
                }.reversed()
                #expect(all.count >= moments.count, "\(table)")
                #expect(try await walk(tables, page) == all, "\(table)")
                await #expect(throws: Refusal(.notFound, ""), "\(table)") {
                    try await tables.read { try page($0, UUID().uuidString.lowercased()) }
                }
            }
        }
    }
}
