import Authority
import Domain
import Fixtures
import Foundation
import Testing
import Tokens

@testable import Operations

extension ConsequenceTests {
    static let sessionRows: [Row] = [
        .service("OpenSession", here: [.remembersSession]) { world in
            { node in
                _ = try await node.context.openSession(
                    identityToken: try world.fixture.identityToken("bob", on: node.connection), applicationID: nil,
                    on: node.connection)
            }
        },
        // Its own node drops the old token and remembers the new one: as many as before.
        .service("RenewSession", notices: ["session"], there: [.dropsSession, .wakesOutbox]) { world in
            try await world.fixture.admin.challengeSession(world.alice.session.id)
            return { node in
                _ = try await node.context.renewSession(
                    sessionToken: world.token,
                    identityToken: try world.fixture.identityToken("alice", on: node.connection), on: node.connection)
            }
        },
        .service(
            "EndSession", notices: ["session"], queued: ["session-revoked"], here: [.dropsSession, .wakesOutbox]
        ) { world in
            { node in try await node.context.endSession(world.token, on: node.connection) }
        },
        .service(
            "EndOtherSession", notices: ["session"], queued: ["session-revoked"], here: [.wakesOutbox]
        ) { world in
            let other = try await world.fixture.opened("alice", on: world.alice.connection).session.id
            return { node in
                try await node.context.endOtherSession(other.description, by: world.alice.session)
            }
        },
        .service("CheckSession", audit: ["binding_mismatch"], notices: ["session"], here: [.dropsSession]) { world in
            let thief = try await world.fixture.connectNewDevice()
            return { node in
                let connection = ClientConnection(id: ConnectionID(UUID()), thumbprint: thief.thumbprint) {}
                try await node.context.authenticate(connection)
                await #expect(throws: Refusal(.bindingMismatch, "")) {
                    try await node.context.checkSession(world.token, on: connection)
                }
            }
        },
        .admin(
            "ChallengeSession", audit: ["session_challenged"], notices: ["session"], effects: [.dropsSession]
        ) { world in
            { _ in try await world.fixture.admin.challengeSession(world.alice.session.id) }
        },
        .admin(
            "EndSession", audit: ["session_ended"], notices: ["session"], queued: ["session-revoked"],
            effects: [.dropsSession]
        ) { world in
            { _ in try await world.fixture.admin.endSession(world.alice.session.id) }
        },
        .admin(
            "EndSessions", audit: ["session_ended"], notices: ["user"], queued: ["session-revoked"],
            effects: [.dropsSession]
        ) { world in
            { _ in _ = try await world.fixture.admin.endSessions(of: "test/alice", reason: "ticket:1") }
        },
    ]

    static let revocationRows: [Row] = [
        .service("EndRevokedSessions", queued: ["session-revoked"], here: [.wakesOutbox]) { world in
            _ = try await world.fixture.admin.disableProvider("test")
            return { node in try await EndRevokedSessions(node.context)() }
        }
    ]

    static let certificateRows: [Row] = [
        .service("CertifyDevice", audit: ["certificate_issued"]) { world in
            { node in
                _ = try await node.context.certifyDevice(try world.fixture.request()) { _ in true }
            }
        },
        .service("RenewCertificate", audit: ["certificate_issued"]) { world in
            world.fixture.clock.advance(250 * 86_400)
            return { node in
                _ = try await node.context.renewCertificate(csr: nil, on: node.connection)
            }
        },
        .service(
            "Authenticate", audit: ["certificate_superseded"], notices: ["device"],
            here: [.dropsSession, .readsCertificates]
        ) { world in
            world.fixture.clock.advance(250 * 86_400)
            let renewed = try await world.fixture.context.renewCertificate(csr: nil, on: world.alice.connection)
                .certificate
            return { node in
                try await node.context.authenticate(
                    ClientConnection(id: ConnectionID(UUID()), thumbprint: renewed.thumbprint) {})
            }
        },
        .service(
            "RevokeOwnCertificate", audit: ["certificate_revoked"], notices: ["device"], queued: ["session-revoked"],
            here: [.dropsSession, .readsCertificates, .wakesOutbox]
        ) { _ in
            { node in
                try await node.context.revokeOwnCertificate(of: node.connection)
                #expect(node.connection.state == .uncertified)
            }
        },
        .admin(
            "RevokeCertificate", audit: ["certificate_revoked"], notices: ["device"],
            queued: ["session-revoked"], effects: [.dropsSession, .readsCertificates]
        ) { world in
            let serial = try await world.serial()
            return { _ in
                try await world.fixture.admin.revokeCertificate(serial: serial, reason: .keyCompromise)
            }
        },
        .admin(
            "RevokeDevice", audit: ["certificate_revoked"], notices: ["device"], queued: ["session-revoked"],
            effects: [.dropsSession, .readsCertificates]
        ) { world in
            { _ in
                _ = try await world.fixture.admin.revokeDevice(world.alice.session.deviceID, reason: .keyCompromise)
            }
        },
    ]

    static let providerRows: [Row] = [
        // Another provider's: nothing of what is remembered has to do with it.
        .admin("AddProvider", audit: ["provider_added"], notices: ["provider"]) { world in
            let key = try ProviderSigner(.es256).verificationKey
            return { _ in
                _ = try await world.fixture.admin.addProvider(
                    name: "Other", slug: nil, account: nil, avatarHosts: [], key: key)
            }
        },
        .admin("AddIssuer", audit: ["provider_added"], notices: ["provider"]) { world in
            let issuer = StandInIssuer([("k", try ProviderSigner(.es256))])
            return { _ in _ = try await issuer.register(on: world.fixture) }
        },
        .service(
            "IssuerKeys", audit: ["provider_key_added", "provider_key_retired"], notices: ["provider_keys"]
        ) { world in
            let issuer = StandInIssuer([("k", try ProviderSigner(.es256))])
            _ = try await issuer.register(on: world.fixture)
            try StandInIssuer([("l", try ProviderSigner(.es256))]).publish(on: world.fixture)
            world.fixture.clock.advance(60)
            return { node in try await IssuerKeys(node.context).refresh(issuer.url) }
        },
        .admin(
            "DisableProvider", audit: ["provider_disabled"], notices: ["provider"],
            effects: [.dropsSession, .dropsProvider]
        ) { world in
            { _ in _ = try await world.fixture.admin.disableProvider("test") }
        },
        .admin(
            "EnableProvider", audit: ["provider_enabled"], notices: ["provider"],
            effects: [.dropsSession, .dropsProvider]
        ) { world in
            { _ in try await world.fixture.admin.enableProvider("test") }
        },
        .admin(
            "SetTokenAlgorithm", audit: ["provider_changed"], notices: ["provider_keys"], effects: [.dropsProvider]
        ) { world in
            { _ in try await world.fixture.admin.setTokenAlgorithm(.es256, of: "test") }
        },
        .admin(
            "AddIssuerClients", audit: ["provider_changed", "provider_changed"], notices: ["provider_keys"]
        ) { world in
            _ = try await StandInIssuer([("k", try ProviderSigner(.es256))]).register(on: world.fixture)
            let clients = ProviderIssuer.Clients(audiences: ["web"], parties: ["phone"])
            return { _ in _ = try await world.fixture.admin.addIssuerClients(clients, to: "idp-example") }
        },
        .admin("RemoveIssuerClients", audit: ["provider_changed"], notices: ["provider_keys"]) { world in
            let (admin, clients) = (world.fixture.admin, ProviderIssuer.Clients(audiences: ["web"], parties: []))
            _ = try await StandInIssuer([("k", try ProviderSigner(.es256))]).register(on: world.fixture)
            _ = try await admin.addIssuerClients(clients, to: "idp-example")
            return { _ in
                _ = try await admin.removeIssuerClients(clients, from: "idp-example", allowingAnyParty: false)
            }
        },
        .admin(
            "AddResource", audit: ["provider_changed"], notices: ["provider_keys"], effects: [.dropsProvider]
        ) { world in
            let url = try #require(ResourceURL("https://api.example"))
            return { _ in try await world.fixture.admin.addResource(url, to: "test") }
        },
        .admin(
            "RemoveResource", audit: ["provider_changed"], notices: ["provider_keys"], effects: [.dropsProvider]
        ) { world in
            let url = try #require(ResourceURL("https://api.example"))
            try await world.fixture.admin.addResource(url, to: "test")
            return { _ in try await world.fixture.admin.removeResource(url) }
        },
        .admin(
            "AddApplication", audit: ["application_added"], notices: ["provider_keys"], effects: [.dropsProvider]
        ) { world in
            { _ in _ = try await world.fixture.admin.addApplication("Second", to: "test") }
        },
        .service(
            "AddOwnKey", audit: ["provider_key_added"], notices: ["provider_keys"], here: [.dropsProvider]
        ) { world in
            let (signer, fixture) = (try ProviderSigner(.es256), world.fixture)
            return { node in
                _ = try await node.context.addOwnKey(
                    keyText: signer.publicKeyPEM, algorithm: nil,
                    proof: try signer.possessionProof(
                        provider: fixture.registration.provider.id, now: fixture.clock.now),
                    by: try await node.proof(fixture))
            }
        },
        .service(
            "RevokeOwnKey", audit: ["provider_key_revoked"], notices: ["provider_key", "provider_keys"],
            here: [.dropsProvider]
        ) { world in
            let fixture = world.fixture
            let id = try await fixture.admin.addProviderKey(
                try ProviderSigner(.es256).verificationKey, to: fixture.registration.provider.id)
            return { node in
                _ = try await node.context.revokeOwnKey(
                    id, endingSessions: true, by: try await node.proof(fixture))
            }
        },
        .admin(
            "AddProviderKey", audit: ["provider_key_added"], notices: ["provider_keys"], effects: [.dropsProvider]
        ) { world in
            let key = try ProviderSigner(.es256).verificationKey
            return { _ in
                _ = try await world.fixture.admin.addProviderKey(
                    key, to: world.fixture.registration.provider.id)
            }
        },
        .admin(
            "RetireProviderKey", audit: ["provider_key_retired"], notices: ["provider_keys"],
            effects: [.dropsProvider]
        ) { world in
            { _ in try await world.fixture.admin.retireProviderKey(world.fixture.registration.keyID) }
        },
        .admin(
            "RevokeProviderKey", audit: ["provider_key_revoked"], notices: ["provider_key", "provider_keys"],
            effects: [.dropsSession, .dropsProvider]
        ) { world in
            { _ in
                try await world.fixture.admin.revokeProviderKey(
                    world.fixture.registration.keyID, endingSessions: true)
            }
        },
        .service("SetWebhook", audit: ["webhook_set"]) { world in
            { node in
                _ = try await node.context.setWebhook(
                    "https://other.invalid/", by: try await node.proof(world.fixture), allowingLoopback: false)
            }
        },
        .service("TestWebhook", queued: ["provider_event"], here: [.wakesOutbox]) { world in
            { node in _ = try await node.context.testWebhook(by: try await node.backend(world.fixture)) }
        },
        .service("NotifyUser", notices: ["messages"], queued: ["notification"]) { world in
            { node in
                try await node.context.notifyUser(
                    try UserNotification(id: UUID().uuidString, title: nil, body: "Hello", data: nil), to: "alice",
                    by: try await node.backend(world.fixture))
            }
        },
        .service("RemoveWebhook", audit: ["webhook_removed"]) { world in
            { node in
                try await node.context.removeWebhook(by: try await node.proof(world.fixture))
            }
        },
        .service(
            "RevokeSession", audit: ["session_ended"], notices: ["session"], queued: ["session-revoked"],
            here: [.dropsSession, .wakesOutbox]
        ) { world in
            { node in
                try await node.context.revokeSession(world.token, for: try await node.backend(world.fixture))
            }
        },
        .service(
            "EndUserSessions", audit: ["session_ended"], notices: ["user"], queued: ["session-revoked"],
            here: [.dropsSession, .wakesOutbox]
        ) { world in
            { node in
                try await node.context.endUserSessions(of: "alice", at: try await node.backend(world.fixture))
            }
        },
        .service(
            "ReceiveProviderEvent", notices: ["user"], queued: ["session-revoked"],
            here: [.dropsSession, .wakesOutbox]
        ) { world in
            { node in try await node.context.receiveProviderEvent(try world.logout(), at: .free) }
        },
    ]
}
