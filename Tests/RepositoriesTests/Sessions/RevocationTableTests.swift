import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table cuts")
struct RevocationTableTests {
    /// What a session of the fixture hangs on.
    enum Hook: CaseIterable, Sendable {
        case user
        case device
        case provider
        case providerKey

        func scope(_ tables: TestTables) -> RevocationScope {
            switch self {
            case .user: .user(tables.user)
            case .device: .device(tables.device)
            case .provider: .provider(tables.provider)
            case .providerKey: .providerKey(tables.providerKey)
            }
        }

        /// The first generations but one.
        var second: SessionGenerations {
            SessionGenerations(
                user: self == .user ? 1 : 0, device: self == .device ? 1 : 0, provider: self == .provider ? 1 : 0,
                key: self == .providerKey ? 1 : 0)
        }
    }

    /// What each statement says of a session that is its user's only one.
    private struct Answers: Equatable {
        var byToken: Session.State?
        var byID: Session.State?
        var held: Session.State?
        var ofUser = 0
        var ofDevice = 0
        var all = 0
        var counted = 0
        var beforeSignIn = 0
        var onDeviceList = 0

        static let open = Answers(
            byToken: .authenticated, byID: .authenticated, held: .authenticated, ofUser: 1, ofDevice: 1, all: 1,
            counted: 1, beforeSignIn: 1, onDeviceList: 1)
        static let ended = Answers(byToken: .unauthenticated, byID: .unauthenticated, held: .unauthenticated)
    }

    private static func answers(
        on session: Session, _ scope: RevocationScope, _ tables: TestTables
    ) async throws -> Answers {
        let subject = SignInRepository.Subject(
            keyID: tables.providerKey, thumbprint: .of("certificate 1"), deviceID: tables.device,
            providerID: tables.provider, externalID: "ada")
        return try await tables.read { transaction in
            let sessions = SessionRepository(transaction)
            return Answers(
                byToken: try sessions.find(session.id, tokenHash: session.tokenHash)?.state,
                byID: try sessions.find(session.id)?.state,
                held: try HolderRepository(transaction).holder(of: session)?.session.state,
                ofUser: try sessions.listOpen(.user(session.userID)).count,
                ofDevice: try sessions.listOpen(.device(session.deviceID)).count,
                all: try sessions.listOpen(limit: 9).count, counted: try sessions.countOpen(scope, limit: 9),
                beforeSignIn: try SignInRepository(transaction).context(of: subject, mostSessions: 8).openSessions,
                onDeviceList: try DeviceRepository(transaction).list(limit: 1).first?.sessions ?? -1)
        }
    }

    @Test(
        "A session of an earlier generation has ended for each statement, whatever its row says",
        arguments: StoreKind.shared, Hook.allCases)
    func unswept(kind: StoreKind, hook: Hook) async throws {
        try await TestTables.run(kind) { tables in
            let (scope, session, later) = (hook.scope(tables), tables.session(1), tables.session(2))
            try await tables.write { try SessionRepository($0).insert(session, at: .first) }
            #expect(try await Self.answers(on: session, scope, tables) == .open)
            try await tables.write { transaction in
                try GenerationRepository(transaction).raise(scope)
                try BulkRevocationRepository(transaction).insert(scope, .byAdmin)
            }
            #expect(try await Self.answers(on: session, scope, tables) == .ended)
            // Its row is counted until it follows; that this is so is said beside the number.
            let status = try await tables.read { transaction in
                let records = StatusRepository(transaction)
                let counts = try records.counts(policy: SessionPolicy(), atMost: .max)
                return (counts?[.sessions, "authenticated"], try records.cuts())
            }
            #expect(status == (1, 1))
            let changed = try await tables.write { transaction in
                let sessions = SessionRepository(transaction)
                return [
                    try sessions.end(.session(session.id), at: TestTables.now, .byUser).count,
                    try sessions.challenge(.user(session.userID), at: TestTables.now),
                    try sessions.renew(session, replacing: session.tokenHash, at: 0) ? 1 : 0,
                ]
            }
            #expect(changed == [0, 0, 0])
            try await tables.write { try SessionRepository($0).insert(later, at: hook.second) }
            #expect(try await Self.answers(on: later, scope, tables) == .open)
        }
    }

    @Test(
        "A cut's rows are ended in batches, those of later sessions not at all", arguments: StoreKind.shared,
        Hook.allCases)
    func batches(kind: StoreKind, hook: Hook) async throws {
        try await TestTables.run(kind) { tables in
            let (scope, later) = (hook.scope(tables), tables.session(9))
            let sessions = (1...5).map { tables.session($0) }
            try await tables.write { transaction in
                let records = SessionRepository(transaction)
                for session in sessions { try records.insert(session, at: .first) }
                try GenerationRepository(transaction).raise(scope)
                try BulkRevocationRepository(transaction).insert(scope, .providerDisabled)
                try records.insert(later, at: hook.second)
            }
            let ended = try await tables.write { transaction in
                let cut = try #require(try BulkRevocationRepository(transaction).take(by: "node", for: 15))
                #expect(cut.scope == scope && cut.generation == 1 && cut.why == .providerDisabled)
                return try (0..<4).map { _ in try SessionRepository(transaction).end(cut, limit: 2).map(\.id) }
            }
            #expect(ended.map(\.count) == [2, 2, 1, 0])
            #expect(Set(ended.flatMap { $0 }) == Set(sessions.map(\.id)))
            #expect(try await Self.answers(on: later, scope, tables) == .open)
        }
    }

    @Test("One holder at a time works on a cut, until it gives it back or was silent", arguments: StoreKind.shared)
    func leases(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.write { transaction in
                for scope in [RevocationScope.user(tables.user), .device(tables.device)] {
                    try GenerationRepository(transaction).raise(scope)
                    try BulkRevocationRepository(transaction).insert(scope, .banned)
                }
            }
            let (first, same, other, none, isDue) = try await tables.write { transaction in
                let cuts = BulkRevocationRepository(transaction)
                let first = try #require(try cuts.take(by: "one", for: 15))
                let other = try cuts.take(by: "two", for: 15)
                let same = try cuts.take(by: "one", for: 15)
                return try (first, same, other, cuts.take(by: "three", for: 15), cuts.isDue(to: "three"))
            }
            #expect(same == first)
            #expect(other != nil && other != first)
            #expect(none == nil && !isDue)
            let again = try await tables.write { transaction in
                let cuts = BulkRevocationRepository(transaction)
                var kept = first
                kept.ended = 7
                try cuts.giveBack(kept, until: TestTables.now)
                let again = try cuts.take(by: "three", for: 15)
                try cuts.delete(kept)
                return again
            }
            #expect(again?.ended == 7)
            #expect(try await tables.count("cuts") == 1)
        }
    }

    @Test(
        "A holder works on its cuts in turn, and a clock that is set back makes none wait",
        arguments: StoreKind.shared)
    func turns(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.write { transaction in
                for scope in [RevocationScope.user(tables.user), .device(tables.device)] {
                    try GenerationRepository(transaction).raise(scope)
                    try BulkRevocationRepository(transaction).insert(scope, .banned)
                }
            }
            let (first, second, isDue) = try await tables.write { transaction in
                let cuts = BulkRevocationRepository(transaction)
                let first = try #require(try cuts.take(by: "one", for: 15))
                let second = try #require(try cuts.take(by: "one", for: 15))
                let isDue = try [BulkRevocationRepository.patience, BulkRevocationRepository.patience + 1].map {
                    seconds in
                    for cut in [first, second] {
                        try cuts.giveBack(cut, until: transaction.now.addingTimeInterval(seconds))
                    }
                    return try cuts.isDue(to: "two")
                }
                return (first, second, isDue)
            }
            #expect(first != second)
            #expect(isDue == [false, true])
        }
    }

    @Test("A sign-in reads the generations, and whether ban entries exist", arguments: StoreKind.shared)
    func context(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let subject = SignInRepository.Subject(
                keyID: tables.providerKey, thumbprint: .of("certificate 1"), deviceID: tables.device,
                providerID: tables.provider, externalID: "ada")
            let found = try await tables.write { transaction in
                let gates = GenerationRepository(transaction)
                for (number, hook) in Hook.allCases.enumerated() {
                    for _ in 0...number { try gates.raise(hook.scope(tables)) }
                }
                try gates.setMayBeBanned(true, .user(tables.user))
                let user = try SignInRepository(transaction).context(of: subject, mostSessions: 8)
                try gates.setMayBeBanned(false, .user(tables.user))
                try gates.setMayBeBanned(true, .device(tables.device))
                return (user, try SignInRepository(transaction).context(of: subject, mostSessions: 8))
            }
            #expect(found.0.generations == SessionGenerations(user: 1, device: 2, provider: 3, key: 4))
            #expect(found.0.mayUserBeBanned && !found.0.mayDeviceBeBanned)
            #expect(!found.1.mayUserBeBanned && found.1.mayDeviceBeBanned)
        }
    }
}
