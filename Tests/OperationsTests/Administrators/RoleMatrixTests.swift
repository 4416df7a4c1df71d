import Authority
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Operations

/// Each role is tried with the operations of an administrator.
@Suite("The roles of administrators")
struct RoleMatrixTests {
    /// An operation with the right that it requires.
    private struct Operation: Sendable {
        let name: String
        let right: AdminRight
        let run: @Sendable (Administration) async throws -> Void

        init(_ name: String, _ right: AdminRight, _ run: @escaping @Sendable (Administration) async throws -> Void) {
            (self.name, self.right, self.run) = (name, right, run)
        }
    }

    /// With ids that nothing has: an operation that is permitted finds nothing, and changes nothing.
    private static let operations: [Operation] = [
        .init("auditSubjects", .audit) { _ = try await $0.auditSubjects(meantBy: "user \(UUID())") },
        .init("listAdministrators", .audit) { _ = try await $0.listAdministrators() },
        .init("browseAudit", .audit) { _ = try await $0.browseAudit(ReadAudit.Filter(), count: 1) },
        .init("verifyAudit", .audit) { _ = try await $0.verifyAudit(keys: [:], atMost: 0, by: SharedVerification()) },
        .init("listNodes", .audit) { _ = try await $0.listNodes() },
        .init("listUsers", .support) { _ = try await $0.listUsers(limit: 1) },
        .init("readUser", .support) { _ = try await $0.readUser("test/nobody") },
        .init("readUserDetail", .support) { _ = try await $0.readUserDetail("test/nobody") },
        .init("readUserWithHistory", .support) { _ = try await $0.readUserWithHistory("test/nobody", limit: 1) },
        .init("findUsers by external id", .support) { _ = try await $0.findUsers(externalID: "nobody", of: nil) },
        .init("challengeUser", .support) { _ = try await $0.challengeUser("test/nobody", reason: nil) },
        .init("endSessions of a user", .support) { _ = try await $0.endSessions(of: "test/nobody", reason: "test") },
        .init("listSessions", .support) { _ = try await $0.listEndedSessions(limit: 1) },
        .init("readSession", .support) { _ = try await $0.readSession(SessionID(UUID())) },
        .init("challengeSession", .support) { try await $0.challengeSession(SessionID(UUID())) },
        .init("endSession", .support) { try await $0.endSession(SessionID(UUID())) },
        .init("listCardsInReview", .review) { _ = try await $0.listCardsInReview(limit: 1) },
        .init("readCardInReview", .review) { _ = try await $0.readCardInReview(IdentityCardID(UUID())) },
        .init("approveCard", .review) { try await $0.approveCard(IdentityCardID(UUID()), reason: "same") },
        .init("rejectCard", .review) { try await $0.rejectCard(IdentityCardID(UUID()), reason: "copy") },
        .init("decideCardLater", .review) {
            _ = try await $0.decideCardLater(IdentityCardID(UUID()), isAccepted: true, reason: "same")
        },
        .init("undoCardDecision", .review) { try await $0.undoCardDecision(IdentityCardID(UUID())) },
        .init("exportUser", .manage) { _ = try await $0.exportUser("test/nobody", reason: "test") },
        .init("eraseUser", .manage) { _ = try await $0.eraseUser("test/nobody", reason: "test") },
        .init("readBan", .manage) { _ = try await $0.readBan(BanID(UUID())) },
        .init("liftBan", .manage) { _ = try await $0.liftBan(BanID(UUID()), note: "test") },
        .init("listDevices", .manage) { _ = try await $0.listDevices(limit: 1) },
        .init("revokeDevice", .manage) { _ = try await $0.revokeDevice(DeviceID(UUID()), reason: .keyCompromise) },
        .init("listProviders", .manage) { _ = try await $0.listProviders() },
        .init("listWaitingActs", .manage) { _ = try await $0.listWaitingActs() },
        .init("confirmAct", .manage) { try await $0.confirmAct(WaitingActID(UUID())) },
        .init("listProviders by pages", .manage) { _ = try await $0.listProviders(limit: 1, after: nil) },
        .init("readProviderWithHealth", .manage) { _ = try await $0.readProviderWithHealth("nobody") },
        .init("disableProvider", .manage) { _ = try await $0.disableProvider("nobody") },
        .init("revokeProviderKey", .manage) { _ = try await $0.retireProviderKey(ProviderKeyID(UUID())) },
        .init("dropMessage", .manage) { _ = try await $0.dropMessage(OutboxMessageID(UUID())) },
        .init("listThinnedTexts", .manage) { _ = try await $0.listThinnedTexts(limit: 1) },
        .init("addAdministrator", .manage) { try await $0.addAdministrator("ben", role: .security) },
        .init("renewAdministrator", .manage) { admin in
            let certificate = AdministratorCertificate(
                thumbprint: Digest256.of("x"), notAfter: Date.distantFuture, authority: Digest256.of("authority"))
            try await admin.renewAdministrator("nobody", certificate: certificate)
        },
        .init("removeAdministrator", .manage) { _ = try await $0.removeAdministrator("nobody") },
    ]

    private static func administration(of one: Administrator, _ fixture: ServiceFixture) -> Administration {
        let keys = fixture.personalKeys
        return Administration(
            store: fixture.store, environment: fixture.admin.environment, actor: "admin test", administrator: one
        ) { keys }
    }

    @Test("permit what the right of each operation says, and refuse all else", arguments: AdminRole.allCases)
    func matrix(role: AdminRole) async throws {
        try await ServiceFixture.run { fixture in
            let one = try await fixture.admin.addAdministrator("lena", role: role)
            let admin = Self.administration(of: one, fixture)
            for operation in Self.operations {
                var code: Refusal.Code?
                do { try await operation.run(admin) } catch let refusal as Refusal { code = refusal.code }
                #expect((code == .insufficientScope) == !role.includes(operation.right), "\(role), \(operation.name)")
            }
        }
    }

    @Test("end with the removal, also for an operation that waits for an answer meanwhile")
    func removed() async throws {
        try await ServiceFixture.run { fixture in
            let one = try await fixture.admin.addAdministrator("lena", role: .security)
            let admin = Self.administration(of: one, fixture)
            _ = try await admin.listProviders()
            try await fixture.admin.removeAdministrator("lena")
            await #expect(throws: Refusal.administratorRemoved("lena")) { try await admin.listProviders() }
            await #expect(throws: Refusal.administratorRemoved("lena")) { try await admin.removeAdministrator("lena") }
            // The name has another role now, and its former role is not valid.
            try await fixture.admin.addAdministrator("lena", role: .auditor)
            await #expect(throws: Refusal.self) { try await admin.listProviders() }
            await #expect(throws: Refusal.administratorChanged) { try await admin.listAdministrators() }
        }
    }

    @Test("limit no account of the system that belongs to no administrator")
    func unmapped() async throws {
        try await ServiceFixture.run { fixture in
            for operation in Self.operations {
                do { try await operation.run(fixture.admin) } catch let refusal as Refusal {
                    #expect(refusal.code != .insufficientScope, "\(operation.name)")
                }
            }
        }
    }

    @Test("are checked in each transaction of an administrator: few files use the store without naming a right")
    func sources() throws {
        let files = try SourceFile.all(below: "Sources/Operations").filter {
            $0.text.contains(/extension Administration \{|let context: Administration/)
        }
        #expect(files.count > 20)
        let direct = files.filter {
            $0.text.contains(/store\.(?:snapshot|transaction|maintained|reached|alter)|\(store: store/)
        }
        // Each of these first runs a transaction that names one.
        #expect(
            Set(direct.map(\.name)) == [
                "ArchiveUsers.swift", "BrowseAudit.swift", "RotateWrappingKey.swift",
            ])
    }
}
