import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Operations

extension ConsequenceTests {
    static let appRows: [Row] = [
        .service("ChangeProfile") { world in
            { node in
                try await node.context.changeProfile(
                    Service.ProfileChange(storage: .untilDelivered), for: world.alice.session)
            }
        },
        .service(
            "ForbidApp", audit: ["app_forbidden"], notices: ["user"], queued: ["session-revoked"],
            here: [.dropsSession, .wakesOutbox]
        ) { world in
            let app = try await world.secondApp()
            _ = try await world.fixture.context.openSession(
                identityToken: try world.fixture.identityToken("alice", on: world.alice.connection),
                applicationID: app, on: world.alice.connection)
            return { node in try await node.context.forbidApp(app, for: world.alice.session) }
        },
        .service("AllowApp", audit: ["app_allowed"]) { world in
            let app = try await world.secondApp()
            try await world.fixture.context.forbidApp(app, for: world.alice.session)
            return { node in try await node.context.allowApp(app, for: world.alice.session) }
        },
        .admin("AllowApp", audit: ["app_allowed"]) { world in
            let app = try await world.secondApp()
            try await world.fixture.context.forbidApp(app, for: world.alice.session)
            return { _ in _ = try await world.fixture.admin.allowApp(TypedID(app), of: "test/alice", reason: nil) }
        },
    ]
}

extension ConsequenceTests {
    /// Neither node has an administrator's connection, so nothing is closed.
    static let administratorRows: [Row] = [
        .admin("AddAdministrator", audit: ["administrator_added"], notices: ["administrator"]) { world in
            { _ in try await world.fixture.admin.addAdministrator("lena", role: .support) }
        },
        .admin("RenewAdministrator", audit: ["administrator_renewed"], notices: ["administrator"]) { world in
            try await world.fixture.admin.addAdministrator("lena", role: .support)
            let certificate = AdministratorCertificate(
                thumbprint: Digest256.of("lena"), notAfter: world.fixture.clock.now + 3600,
                authority: Digest256.of("authority"))
            return { _ in try await world.fixture.admin.renewAdministrator("lena", certificate: certificate) }
        },
        .admin("RemoveAdministrator", audit: ["administrator_removed"], notices: ["administrator"]) { world in
            try await world.fixture.admin.addAdministrator("lena", role: .support)
            return { _ in try await world.fixture.admin.removeAdministrator("lena") }
        },
        .admin(
            "ConfirmAct", audit: ["act_confirmed", "provider_disabled"], notices: ["provider"],
            effects: [.dropsSession, .dropsProvider]
        ) { world in
            let (admin, keys) = (world.fixture.admin, world.fixture.personalKeys)
            let lena = try await admin.addAdministrator("lena", role: .security)
            try await admin.addAdministrator("ben", role: .security)
            let first = Administration(
                store: world.fixture.store, environment: admin.environment, actor: "admin lena", administrator: lena,
                fourEyesOver: 1
            ) { keys }
            await #expect(throws: Refusal(.conflict, "")) { try await first.disableProvider("test") }
            let id = try #require(try await admin.listWaitingActs().first).act.id
            return { _ in try await admin.confirmAct(id) }
        },
    ]
}

extension ConsequenceWorld {
    /// The id of another app of the provider.
    fileprivate func secondApp() async throws -> String {
        let app = try await fixture.admin.addApplication("Second", to: "test")
        try await fixture.watch.poll()
        return app.id.description
    }
}

extension ConsequenceTests {
    static let reviewRows: [Row] = [
        .admin("DecideCardLater", audit: ["card_decided"]) { world in
            let waiting = try await waitingCard(world)
            return { _ in
                _ = try await world.cards.admin.decideCardLater(waiting, isAccepted: true, reason: "twins")
            }
        },
        .admin("UndoCardDecision", audit: ["card_decision_undone"]) { world in
            let waiting = try await waitingCard(world)
            _ = try await world.cards.admin.decideCardLater(waiting, isAccepted: false, reason: "a copy")
            return { _ in try await world.cards.admin.undoCardDecision(waiting) }
        },
        .service(
            "ApplyCardDecisions", audit: ["identity_verified"], notices: ["user_level"],
            queued: ["assurance-level-change"], here: [.wakesOutbox]
        ) { world in
            let waiting = try await waitingCard(world)
            _ = try await world.cards.admin.decideCardLater(waiting, isAccepted: true, reason: "twins")
            world.fixture.clock.advance(CardDecision.undoPeriod)
            return { node in _ = try await ApplyCardDecisions(node.context).task.prepare() }
        },
    ]
}
