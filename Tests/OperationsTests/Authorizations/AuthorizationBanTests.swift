import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Operations
import PhoneNumbers
import Repositories
import Testing

/// Every state of an authorization × whoever is banned, how far, and by what.
@Suite("Authorizations of banned people")
struct AuthorizationBanTests {
    /// One line of the table.
    struct Line: Sendable, CustomTestStringConvertible {
        let state: MessagingPermission.State
        let requesterIsBanned: Bool
        let scope: Ban.Scope
        let byNumber: Bool

        var testDescription: String {
            let banned = requesterIsBanned ? "requester" : "asked"
            return "\(state.rawValue), \(banned), \(scope.rawValue), by \(byNumber ? "number" : "name")"
        }

        static let all = MessagingPermission.State.allCases.flatMap { state in
            [true, false].flatMap { requester in
                Ban.Scope.allCases.flatMap { scope in
                    [true, false].map {
                        Line(state: state, requesterIsBanned: requester, scope: scope, byNumber: $0)
                    }
                }
            }
        }

        /// What the ban leaves of it.
        var after: MessagingPermission.State { state.isOpen ? .banned : state }
    }

    private static func admin(_ bench: AuthorizationBench) -> Administration {
        let environment = Environment(now: { [clock = bench.clock] in clock.now })
        return Administration(store: bench.store, environment: environment, actor: "admin test") { bench.keys }
    }

    private func ban(
        _ person: Session, _ scope: Ban.Scope, byNumber: Bool = false, _ bench: AuthorizationBench
    ) async throws -> BanID {
        let number = try await bench.store.read { [keys = bench.keys, id = person.userID] in
            try AuthenticatedUserRepository($0, keys: keys).find(id)?.phoneNumber
        }
        let target: BanTarget =
            byNumber ? .phone(try PhoneNumber(reading: try #require(number))) : .user(person.userID.description)
        let order = try BanOrder(
            target: target, scope: scope, reason: try #require(BanBench.spam), note: nil, endsAt: nil,
            withDevices: false)
        return try await Self.admin(bench).addBan(order, upTo: nil).ban.id
    }

    /// Brings a request of alice's to bob into a state.
    private func bring(
        _ id: String, to state: MessagingPermission.State, _ alice: Session, _ bob: Session, _ bench: AuthorizationBench
    ) async throws {
        switch state {
        case .request: break
        case .approval: _ = try await bench.context.approveAuthorization(id, for: bob)
        case .rejected: _ = try await bench.context.rejectAuthorization(id, for: bob)
        case .cancelled: _ = try await bench.context.cancelAuthorization(id, for: alice)
        case .expired: bench.clock.advance(14 * 86_400)
        case .banned:
            let ban = try await ban(alice, .messaging, bench)
            _ = try await Self.admin(bench).liftBan(ban, note: "lifted")
        }
    }

    @Test("permit nothing, tell nobody and move no more, and a lifted ban gives nothing back", arguments: Line.all)
    func table(line: Line) async throws {
        try await AuthorizationBench.run { try await judge(line, $0) }
    }

    private func judge(_ line: Line, _ bench: AuthorizationBench) async throws {
        let alice = try await bench.person("alice")
        let bob = try await bench.person("bob")
        let id = try await bench.request(alice, bob)
        try await bring(id, to: line.state, alice, bob, bench)
        var banned = line.requesterIsBanned ? alice : bob
        let other = line.requesterIsBanned ? bob : alice
        let ban = try await ban(banned, line.scope, byNumber: line.byNumber, bench)
        // What was on its way is not told any more.
        _ = try await bench.deliver()
        #expect(bench.pushes.sent.isEmpty)
        #expect(try await bench.rows(id).last?.type == (line.state == .expired ? .request : line.after))
        try await expectShutOut(banned, id, line, bench)
        let own = try await expectUnseen(banned, by: other, id, line, bench)
        // Lifting revives nothing.
        _ = try await Self.admin(bench).liftBan(ban, note: "lifted")
        if line.scope == .all { banned = try await bench.signInAgain(banned) }
        try await expectOver(id, line, banned, bench)
        try await expectOver(id, line, other, bench)
        #expect(await approval(id, line.requesterIsBanned ? other : banned, bench) == line.after.rawValue)
        #expect(try await bench.list(banned, "in", "REQUEST").isEmpty)
        if let own {
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.context.approveAuthorization(own, for: banned)
            }
        }
        _ = try await bench.deliver()
        #expect(bench.pushes.sent.isEmpty)
        // They begin anew, unless a rejection forbids it.
        guard !(line.requesterIsBanned && line.state == .rejected) else { return }
        let new = try await bench.request(banned, other)
        _ = try await bench.deliver()
        #expect(bench.pushes.endpoints == [other.externalID])
        #expect(try await bench.context.approveAuthorization(new, for: other).grant != nil)
    }

    private func expectOver(
        _ id: String, _ line: Line, _ person: Session, _ bench: AuthorizationBench
    ) async throws {
        let view = try await bench.context.readAuthorization(id, to: person)
        #expect(view.authorization.state == line.after && view.grant == nil && view.partner == nil)
    }

    /// The state that forbids an approval.
    private func approval(_ id: String, _ person: Session, _ bench: AuthorizationBench) async -> String? {
        await bench.state { try await bench.context.approveAuthorization(id, for: person) }
    }

    /// The banned side may neither ask nor answer nor read; where the ban leaves the session, blocking, which only
    /// protects, stays.
    private func expectShutOut(
        _ banned: Session, _ id: String, _ line: Line, _ bench: AuthorizationBench
    ) async throws {
        let refusal = Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))
        await #expect(throws: refusal) { try await bench.list(banned) }
        await #expect(throws: refusal) { try await bench.context.readAuthorization(id, to: banned) }
        let stranger = try await bench.person("stranger")
        guard line.scope != .all else {
            let over = Refusal(.sessionDestroyed, "")
            await #expect(throws: over) { try await bench.request(banned, "test/carol") }
            await #expect(throws: over) { try await bench.context.approveAuthorization(id, for: banned) }
            await #expect(throws: over) { try await bench.context.cancelAuthorization(id, for: banned) }
            await #expect(throws: over) { try await bench.context.blockUser(stranger.userID.description, for: banned) }
            return
        }
        await #expect(throws: refusal) { try await bench.request(banned, "test/carol") }
        if !line.requesterIsBanned {
            #expect(await approval(id, banned, bench) == line.after.rawValue)
            let rejected = await bench.state { try await bench.context.rejectAuthorization(id, for: banned) }
            #expect(rejected == (line.after == .rejected ? nil : line.after.rawValue))
        }
        let cancelled = await bench.state { try await bench.context.cancelAuthorization(id, for: banned) }
        #expect(cancelled == (line.after == .cancelled ? nil : line.after.rawValue))
        try await bench.context.blockUser(stranger.userID.description, for: banned)
        try await bench.context.unblockUser(stranger.userID.description, for: banned)
        try await bench.context.blockUser(banned.userID.description, for: stranger)
    }

    /// The other side sees what there was end, and whom it asks meanwhile never hears of it.
    ///
    /// - Returns: the request that it made meanwhile.
    private func expectUnseen(
        _ banned: Session, by other: Session, _ id: String, _ line: Line, _ bench: AuthorizationBench
    ) async throws -> String? {
        try await expectOver(id, line, other, bench)
        #expect(try await bench.list(other).map(\.authorization.state) == [line.after])
        guard line.requesterIsBanned || line.state != .rejected else {
            #expect(await bench.state { try await bench.request(other, banned) } == "REJECTED")
            return nil
        }
        let asked = try await bench.request(other, banned)
        #expect(try await bench.context.readAuthorization(asked, to: other).authorization.state == .request)
        #expect(try await bench.rows(asked).map(\.recipientID) == [nil])
        _ = try await bench.deliver()
        #expect(bench.pushes.sent.isEmpty)
        return asked
    }

    @Test("end too where a user proves a number or document later that is banned from messaging")
    func provenLater() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let service = fixture.context(rateLimiting: .off)
            var people: [PhoneBench.Person] = []
            for (index, name) in ["ADAMS", "BAKER"].enumerated() {
                let person = try await bench.phones.person(name)
                try await bench.prove("+1415555267\(index)", person)
                try await bench.show(person) {
                    $0.number = "T6423578\(index)"
                    $0.family = name
                }
                people.append(person)
            }
            let (requester, asked) = (people[0].session, people[1].session)
            // Bans made under a key of which the proofs' own indexes know nothing.
            let older = try PersonalKeys(
                wrapping: [1: fixture.wrappingKey], index: [1: fixture.indexKey, 2: SymmetricKey(size: .bits256)])
            let targets = [try bench.phone("+14155552679"), try BanTarget.document(reading: "VA:T64225789")]
            for (index, target) in targets.enumerated() {
                let id = try await service.requestPermission(
                    try .init(id: UUID().uuidString, to: asked.userID.description, eventID: nil), for: requester)
                #expect(try await fixture.context.approveAuthorization(id.description, for: asked).grant != nil)
                let ban = try await fixture.admin(older).addBan(
                    try bench.order(target, .messaging), upTo: nil)
                #expect(ban.impact.users.isEmpty)
                if index == 0 {
                    try await bench.prove("+14155552679", people[0]).requireRight()
                } else {
                    #expect(try await bench.show(people[0]) { $0.family = "ADAMS" }.status == .verified)
                }
                let state = try await fixture.store.read { try AuthorizationRepository($0).find(id)?.state }
                #expect(state == .banned)
                await #expect(throws: Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))) {
                    try await service.requestPermission(
                        try .init(id: UUID().uuidString, to: asked.userID.description, eventID: nil), for: requester)
                }
                _ = try await bench.admin.liftBan(ban.ban.id, note: "lifted")
            }
        }
    }
}
