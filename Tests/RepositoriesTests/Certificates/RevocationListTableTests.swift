import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables revocation_lists, recent_certifications and certificate_notices")
struct RevocationListTableTests {
    private static let authority = Digest256.of("authority")

    private static func list(
        _ number: Int64, of authority: Digest256 = authority
    ) -> RevocationListRepository.Published {
        .init(
            authority: authority, number: number, der: [1, 2], entries: 3, thisUpdate: TestTables.now, revocations: 4)
    }

    @Test("The list in force is the last, and takes the place of the ones before it", arguments: StoreKind.shared)
    func lists(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let answers = try await tables.write { transaction in
                let records = RevocationListRepository(transaction)
                let none = try records.current(of: Self.authority) == nil && records.heading(of: Self.authority) == nil
                return try [
                    none, records.publish(Self.list(1), after: 0),
                    records.publish(Self.list(2), after: 0),
                    records.publish(Self.list(2), after: 1),
                ]
            }
            #expect(answers == [true, true, false, true])
            let (list, heading) = try await tables.read {
                (
                    try RevocationListRepository($0).current(of: Self.authority),
                    try RevocationListRepository($0).heading(of: Self.authority)
                )
            }
            #expect(list?.number == 2)
            #expect(list?.der == [1, 2])
            #expect(list?.entries == 3)
            #expect(list?.thisUpdate == TestTables.now)
            #expect(list?.revocations == 4)
            #expect(heading?.number == 2)
            #expect(heading?.thisUpdate == TestTables.now)
            #expect(heading?.revocations == 4)
            #expect(try await tables.count("revocation_lists") == 1)
        }
    }

    @Test("Each authority has its own list and its own numbers", arguments: StoreKind.shared)
    func authorities(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let former = Digest256.of("former authority")
            let numbers = try await tables.write { transaction in
                let records = RevocationListRepository(transaction)
                try records.publish(Self.list(7, of: former))
                #expect(try records.publish(Self.list(1), after: 0))
                #expect(try records.publish(Self.list(2), after: 1))
                #expect(try !records.publish(Self.list(8, of: former), after: 2))
                return try [former, Self.authority].map { try records.heading(of: $0)?.number }
            }
            #expect(numbers == [7, 2])
            let all = try await tables.read { try RevocationListRepository($0).all() }
            #expect(Set(all.map(\.authority)) == [former, Self.authority] && all.count == 2)
        }
    }

    @Test(
        "A request that is repeated in time finds its certificate, and is purged after it", arguments: StoreKind.shared)
    func repeated(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let hash = Digest256.of("request")
            try await tables.write { transaction in
                let records = RepeatedRequestRepository(transaction)
                for pem in ["first", "second"] {
                    try records.remember(
                        hash, serial: "1", certificatePEM: pem, places: nil, until: TestTables.now.addingTimeInterval(1)
                    )
                }
                try records.remember(
                    .of("late"), serial: "1", certificatePEM: "late", places: nil, until: TestTables.now)
                try records.remember(
                    .of("gone"), serial: "9", certificatePEM: "gone", places: nil,
                    until: TestTables.now.addingTimeInterval(1))
            }
            let (found, late, gone) = try await tables.read {
                let records = RepeatedRequestRepository($0)
                return try (records.find(hash), records.find(.of("late")), records.find(.of("gone")))
            }
            #expect(found?.certificatePEM == "second")
            #expect(found?.certificate.serial == "1")
            #expect(late == nil)
            #expect(gone == nil)
            try await tables.write { try RepeatedRequestRepository($0).purge() }
            #expect(try await tables.count("recent_certifications") == 2)
        }
    }

    @Test("A device gives back what its certification took of an address, once", arguments: StoreKind.shared)
    func places(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.sql("INSERT INTO rates (key, arrival) VALUES ('certify address', 5000)")
            let device = try await tables.write { transaction in
                let records = RepeatedRequestRepository(transaction)
                try records.remember(
                    .of("request"), serial: "1", certificatePEM: "first",
                    places: RateRepository.Places(text: "2000 certify address"),
                    until: TestTables.now.addingTimeInterval(1))
                return try CertificateRepository(transaction).find(serial: "1")?.deviceID
            }
            let holder = try #require(device)
            for expected: Int64 in [3000, 3000] {
                try await tables.write { try RepeatedRequestRepository($0).giveBackPlaces(of: holder) }
                let arrivals = try await tables.store.read {
                    try $0.values("SELECT arrival FROM rates", as: Int64.self)
                }
                #expect(arrivals == [expected])
            }
        }
    }

    @Test("No list is without its content", arguments: StoreKind.shared)
    func content(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.write {
                try RevocationListRepository($0).publish(Self.list(1))
            }
            await #expect(throws: StoreError.constraint(kind: .notNull)) {
                try await tables.sql("UPDATE revocation_lists SET der = NULL")
            }
            #expect(
                try await tables.read { try RevocationListRepository($0).current(of: Self.authority)?.der } == [1, 2])
        }
    }

    @Test("Users whose providers are still to be notified are kept once, and taken once", arguments: StoreKind.shared)
    func notices(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            var users = [tables.user]
            for name in ["bob", "cyd", "dan"] { users.append(try await tables.newUser(name)) }
            let (people, device) = (users.sorted { $0.description < $1.description }, tables.device)
            try await tables.write { transaction in
                for user in people {
                    for _ in 0..<2 {
                        try SessionRepository(transaction).insert(
                            Session(
                                id: SessionID(UUID()), tokenHash: .of("\(UUID())"), userID: user,
                                providerID: tables.provider, externalID: "x", applicationID: tables.application,
                                deviceID: device, thumbprint: .of("certificate 1"), providerKeyID: tables.providerKey,
                                state: .authenticated, createdAt: TestTables.now, renewedAt: TestTables.now,
                                lastUsedAt: TestTables.now, challengedAt: nil),
                            at: .first)
                    }
                }
            }
            let first = try await tables.write { transaction in
                let first = try SessionRepository(transaction).users(on: device, limit: 2)
                for _ in 0..<2 {
                    try CertificateNoticeRepository(transaction).add("1a", on: device, after: people[1])
                }
                return first.map(\.user)
            }
            #expect(first == Array(people.prefix(2)))
            let taken = try await tables.write { transaction in
                try [3, 3].map { try CertificateNoticeRepository(transaction).take(limit: $0).map(\.user) }
            }
            #expect(taken == [Array(people.suffix(2)), []])
        }
    }
}
