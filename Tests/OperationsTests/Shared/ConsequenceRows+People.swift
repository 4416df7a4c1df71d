import Crypto
import Delivery
import Domain
import Fixtures
import Foundation
import Operations
import PhoneNumbers
import Repositories
import Testing

extension ConsequenceTests {
    static let userRows: [Row] = [
        .service("ChangeProfile") { world in
            { node in
                try await node.context.changeProfile(
                    Service.ProfileChange(endpoints: PushEndpointChange(usual: .some(nil))), for: world.alice.session)
            }
        },
        .service("ExportPersonalData", audit: ["personal_data_read"]) { world in
            { node in _ = try await node.context.exportPersonalData(for: world.alice.session) }
        },
        .service(
            "ErasePersonalData", audit: ["user_erased"], notices: ["user", "user_level"],
            queued: ["account-purged", "session-revoked"], here: [.dropsLevel, .dropsSession, .wakesOutbox]
        ) { world in
            { node in _ = try await node.context.erasePersonalData(for: world.alice.session) }
        },
        .admin("FindUsers", audit: ["personal_data_read"]) { world in
            let number = try PhoneNumber(fromCaller: "+14155552671")
            return { _ in
                _ = try await world.fixture.admin.findUsers(
                    .phone(number), reason: "ticket:1")
            }
        },
        .admin("ExportUser", audit: ["personal_data_read"]) { world in
            { _ in
                _ = try await world.fixture.admin.exportUser(
                    "test/alice", reason: "ticket:1")
            }
        },
        .admin(
            "EraseUser", audit: ["user_erased"], notices: ["user", "user_level"],
            queued: ["account-purged", "session-revoked"], effects: [.dropsLevel, .dropsSession]
        ) { world in
            { _ in
                _ = try await world.fixture.admin.eraseUser(
                    "test/alice", reason: "user_request")
            }
        },
        .admin("ChallengeUser", audit: ["session_challenged"], notices: ["user"], effects: [.dropsSession]) { world in
            { _ in _ = try await world.fixture.admin.challengeUser("test/alice", reason: nil) }
        },
        .admin("ArchiveUsers", audit: ["personal_data_read", "users_archived"]) { world in
            try await world.cards.prove("+14155552671", world.alice)
            try await world.cards.show(try CardBench.specimen(), world.alice)
            world.fixture.clock.advance(1)
            return { _ in
                let written = try await ArchiveUsers(world.fixture.admin, keys: world.fixture.personalKeys).write(
                    since: Date(timeIntervalSince1970: 0), again: false, recipients: ["age1example"]
                ) { _ in }
                #expect(written.count == 1)
            }
        },
        .admin("RotateWrappingKey", audit: ["wrapping_key_rotated"]) { world in
            let newer = try PersonalKeys(
                wrapping: [1: world.fixture.wrappingKey, 2: SymmetricKey(size: .bits256)],
                index: [1: world.fixture.indexKey])
            return { _ in try await RotateWrappingKey(world.fixture.admin, keys: newer).putInForce() }
        },
    ]

    static let banRows: [Row] = [
        .admin(
            "AddBan", audit: ["ban_added"], notices: ["banned_user"],
            queued: ["account-disabled", "session-revoked"], effects: [.dropsSession, .closesUsers]
        ) { world in
            { _ in _ = try await world.bans.ban(try world.bans.order(.user("test/alice")), upTo: nil) }
        },
        .admin("AddBan", audit: ["ban_added"], notices: ["presence"]) { world in
            { _ in _ = try await world.bans.ban(try world.bans.order(.user("test/alice"), .messaging), upTo: nil) }
        },
        .admin(
            "AddBan", audit: ["ban_added"], notices: ["device"], queued: ["session-revoked"],
            effects: [.dropsSession, .readsCertificates]
        ) { world in
            { _ in
                _ = try await world.bans.ban(
                    try world.bans.order(.device(world.alice.session.deviceID)), upTo: nil)
            }
        },
        .admin(
            "LiftBan", audit: ["ban_lifted"], notices: ["user"], queued: ["account-enabled"],
            effects: [.dropsSession]
        ) { world in
            let ban = try await world.bans.ban(.user("test/alice")).ban
            return { _ in _ = try await world.bans.admin.liftBan(ban.id, note: "a mistake") }
        },
        .admin(
            "LiftBan", audit: ["ban_lifted"], notices: ["device"], effects: [.dropsSession, .readsCertificates]
        ) { world in
            let ban = try await world.bans.ban(.device(world.alice.session.deviceID)).ban
            return { node in
                // A refused device is shown no session: another node's memory may hold it all the same.
                _ = try await world.bans.admin.liftBan(ban.id, note: "a mistake")
            }
        },
        .admin(
            "LiftBans", audit: ["ban_lifted"], notices: ["user"], queued: ["account-enabled"],
            effects: [.dropsSession]
        ) { world in
            try await world.bans.ban(.user("test/alice"))
            return { _ in _ = try await world.bans.admin.liftBans(on: .user("test/alice"), note: "a mistake") }
        },
        .admin("ReadBan", audit: ["personal_data_read"]) { world in
            let ban = try await world.bans.ban(.user("test/alice"), note: "seen by many").ban
            return { _ in _ = try await world.bans.admin.readBan(ban.id) }
        },
        .admin("PreviewBan", audit: ["personal_data_read"]) { world in
            let order = try world.bans.order(.phone(try PhoneNumber(fromCaller: "+14155552671")))
            return { _ in _ = try await world.bans.admin.previewBan(order) }
        },
        .admin("PreviewLift", audit: ["personal_data_read"]) { world in
            let number = BanTarget.phone(try PhoneNumber(fromCaller: "+14155552671"))
            try await world.bans.ban(number)
            return { _ in _ = try await world.bans.admin.previewLift(on: number) }
        },
        .admin("BanHistory", audit: ["personal_data_read"]) { world in
            let number = BanTarget.phone(try PhoneNumber(fromCaller: "+14155552671"))
            return { _ in _ = try await world.bans.admin.banHistory(of: number) }
        },
    ]

    static let proofRows: [Row] = [
        .service("StartPhoneVerification", queued: ["phone_code"], here: [.wakesOutbox]) { world in
            { node in
                _ = try await node.context.startPhoneVerification(
                    .init(
                        phoneNumber: "+14155552671", region: nil, pushEndpoint: nil, presence: nil,
                        address: "192.0.2.1"), for: world.alice.session, on: node.connection,
                    verifyCaptcha: { _ in false })
            }
        },
        .service("ResendPhoneCode", queued: ["phone_code"], here: [.wakesOutbox]) { world in
            let id = try await world.cards.phones.begin("+14155552671", world.alice).id
            world.fixture.clock.advance(31)
            return { node in
                _ = try await node.context.resendPhoneCode(
                    id.description, for: world.alice.session, address: "192.0.2.1")
            }
        },
        .service(
            "CheckPhoneVerification", audit: ["phone_verified"], notices: ["user_level"],
            queued: ["assurance-level-change"], here: [.dropsLevel, .wakesOutbox]
        ) { world in
            let phones = world.cards.phones
            let id = try await phones.begin("+14155552671", world.alice).id
            let code = phones.code(id, "+14155552671", world.alice)
            return { node in
                _ = try await node.context.checkPhoneVerification(
                    id.description, code: code, for: world.alice.session)
            }
        },
        // The number was another's, who is told nothing more by this name, and by no session of before.
        .service(
            "CheckPhoneVerification", audit: ["phone_reassigned", "phone_verified"],
            notices: ["user", "user_level", "user_level"],
            queued: ["assurance-level-change", "assurance-level-change"],
            here: [.dropsLevel, .dropsSession, .wakesOutbox]
        ) { world in
            let phones = world.cards.phones
            try await world.cards.prove("+14155552671", world.alice)
            let bob = try await phones.person("bob")
            let id = try await phones.begin("+14155552671", bob).id
            let code = phones.code(id, "+14155552671", bob)
            return { node in
                _ = try await node.context.checkPhoneVerification(id.description, code: code, for: bob.session)
            }
        },
        .admin("ResumeTexts", audit: ["phone_sends_resumed"]) { world in
            let phones = try PhoneBench(world.fixture)
            var name: String?
            for index in 1...9 where name == nil {
                let person = try await phones.person("user \(index)")
                name = try await phones.begin("+1415\(200 + index)2671", person, address: "10.0.\(index).1").thinned
            }
            let thinned = name ?? ""
            return { _ in try await world.fixture.admin.resumeTexts(thinned) }
        },
        .service(
            "SubmitCard", audit: ["identity_verified"], notices: ["user_level"], queued: ["assurance-level-change"],
            here: [.dropsLevel, .wakesOutbox]
        ) { world in
            try await world.cards.prove("+14155552671", world.alice)
            let card = Data(try CardBench.specimen().bytes).base64EncodedString()
            return { node in
                _ = try await node.context.submitCard(.aamva(card), for: world.alice.session, askIssuer: nil)
            }
        },
        .admin(
            "ApproveCard", audit: ["identity_verified"], notices: ["user_level"],
            queued: ["assurance-level-change"]
        ) { world in
            let waiting = try await waitingCard(world)
            return { _ in try await world.cards.admin.approveCard(waiting, reason: "twins") }
        },
        .admin("ReadCardInReview", audit: ["personal_data_read"]) { world in
            let waiting = try await waitingCard(world)
            return { _ in _ = try await world.cards.admin.readCardInReview(waiting) }
        },
    ]

    static let messageRows: [Row] = [
        .service("RequestPermission", queued: ["authorization_push"], here: [.wakesOutbox]) { world in
            let (alice, bob) = try await world.verified()
            return { node in
                _ = try await node.context.requestPermission(
                    try .init(id: UUID().uuidString, to: bob.session.userID.description, eventID: nil),
                    for: alice.session)
            }
        },
        .service("ApproveAuthorization", queued: ["authorization_push"], here: [.wakesOutbox]) { world in
            let (bob, id) = try await requested(world)
            return { node in _ = try await node.context.approveAuthorization(id, for: bob) }
        },
        .service("BlockUser", notices: ["presence"]) { world in
            let bob = try await world.cards.phones.person("bob")
            return { node in
                try await node.context.blockUser(bob.session.userID.description, for: world.alice.session)
            }
        },
        .service("UnblockUser") { world in
            let bob = try await world.cards.phones.person("bob")
            return { node in
                try await node.context.unblockUser(bob.session.userID.description, for: world.alice.session)
            }
        },
        .service("BlockRequester", notices: ["presence"]) { world in
            let (bob, id) = try await requested(world)
            return { node in try await node.context.blockRequester(of: id, for: bob) }
        },
        .service("UnblockRequester") { world in
            let (bob, id) = try await requested(world)
            try await world.fixture.context.blockRequester(of: id, for: bob)
            return { node in try await node.context.unblockRequester(of: id, for: bob) }
        },
        .service("DeliverOutbox", audit: ["outbox_message_died"]) { world in
            try await world.cards.phones.begin("+14155552671", world.alice)
            return { node in
                let deliver = DeliverOutbox(of: node.context, send: { _, _ in .refused(reason: "landline") })
                _ = try await deliver()
            }
        },
        .admin("RetryMessage", audit: ["outbox_message_retried"]) { world in
            let dead = try await deadMessage(world)
            return { _ in _ = try await world.fixture.admin.retryMessage(dead) }
        },
        .admin("RetryDeadMessages", audit: ["outbox_message_retried"]) { world in
            _ = try await deadMessage(world)
            return { _ in _ = try await world.fixture.admin.retryDeadMessages() }
        },
        .admin("DropMessage", audit: ["outbox_message_dropped"]) { world in
            let dead = try await deadMessage(world)
            return { _ in _ = try await world.fixture.admin.dropMessage(dead) }
        },
    ]

    /// A user's request to bob, and bob's session.
    private static func requested(_ world: ConsequenceWorld) async throws -> (bob: Session, id: String) {
        let (alice, bob) = try await world.verified()
        let id = try await world.fixture.context.requestPermission(
            try .init(id: UUID().uuidString, to: bob.session.userID.description, eventID: nil), for: alice.session)
        return (bob.session, id.description)
    }

    /// A card that a reviewer must look at: it is another user's, too.
    static func waitingCard(_ world: ConsequenceWorld) async throws -> IdentityCardID {
        try await world.cards.prove("+14155552671", world.alice)
        try await world.cards.show(try CardBench.specimen(), world.alice)
        let bob = try await world.cards.withPhone("bob", "+14155552672")
        return try await world.cards.show(try CardBench.specimen(), bob).id
    }

    private static func deadMessage(_ world: ConsequenceWorld) async throws -> OutboxMessageID {
        let phones = world.cards.phones
        try await phones.begin("+14155552671", world.alice)
        phones.texts.answer(.refused(reason: "landline"))
        _ = try await phones.deliver()
        return try await phones.fixture.admin.listOutbox(.dead, limit: 1).first?.id ?? OutboxMessageID(UUID())
    }
}
