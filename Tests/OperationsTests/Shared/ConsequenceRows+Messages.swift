import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Operations

extension ConsequenceTests {
    /// A conversation of alice's and bob's.
    private static func conversation(_ world: ConsequenceWorld) async throws -> (id: String, bob: Session) {
        let (alice, bob) = try await world.verified()
        let context = world.fixture.context
        let asked = try await context.requestPermission(
            try .init(id: UUID().uuidString, to: bob.session.userID.description, eventID: nil), for: alice.session)
        _ = try await context.approveAuthorization(asked.description, for: bob.session)
        let stream = try await context.openMessageStream(
            try MessageBench.opening("conversation", [bob.session.userID.description]), for: alice.session)
        return (stream.id.description, bob.session)
    }

    /// A row of an operation that changes the conversation.
    private static func row(
        _ operation: String, notices: [String] = ["messages"],
        _ act: @escaping @Sendable (Service, String, Session, Session) async throws -> Void
    ) -> Row {
        .service(operation, notices: notices) { world in
            let (id, bob) = try await conversation(world)
            _ = try await world.fixture.context.appendMessage(
                try MessageBench.text("hello"), to: id, for: world.alice.session)
            return { node in try await act(node.context, id, world.alice.session, bob) }
        }
    }

    static let addressRows: [Row] = [
        .service("ShareAddress") { world in
            { node in try await node.context.shareAddress("name", for: world.alice.session) }
        },
        .service("HideAddress") { world in
            { node in try await node.context.hideAddress("name", for: world.alice.session) }
        },
        .service("ResolveAddress") { world in
            try await world.cards.prove("+14155552671", world.alice)
            return { node in
                await #expect(throws: Refusal(.notFound, "")) {
                    try await node.context.resolveAddress(try SoughtAddress("test/nobody"), for: world.alice.session)
                }
            }
        },
        .service("DiscoveryWeek") { world in
            try await world.cards.prove("+14155552671", world.alice)
            return { node in _ = try await node.context.discoveryWeek(for: world.alice.session) }
        },
        .service("EvaluateContacts") { world in
            try await world.cards.prove("+14155552671", world.alice)
            let week = try await world.fixture.context.discoveryWeek(for: world.alice.session)
            return { node in
                _ = try await node.context.evaluateContacts(
                    [week.publicKey], week: week.week.number, for: world.alice.session)
            }
        },
        .service("DiscoveryEntries") { world in
            try await world.cards.prove("+14155552671", world.alice)
            let week = try await world.fixture.context.discoveryWeek(for: world.alice.session).week
            return { node in
                _ = try await node.context.discoveryEntries(
                    week: week.number, bucket: 0, bits: 0, after: nil, for: world.alice.session)
            }
        },
        .service("IssueCallServers") { world in
            try await world.cards.prove("+14155552671", world.alice)
            return { node in
                _ = try await node.context.issueCallServers(by: nil, for: world.alice.session)
            }
        },
    ]

    static let messageStreamRows: [Row] = [
        .service("OpenMessageStream", notices: ["messages"]) { world in
            try await world.cards.prove("+14155552671", world.alice)
            return { node in
                _ = try await node.context.openMessageStream(
                    try MessageBench.opening("conversation", []), for: world.alice.session)
            }
        },
        row("AppendMessage") { context, id, alice, _ in
            _ = try await context.appendMessage(try MessageBench.text("again"), to: id, for: alice)
        },
        row("AcknowledgeMessages") { context, id, _, bob in
            _ = try await context.acknowledgeMessages(delivered: 1, read: nil, in: id, for: bob)
        },
        row("RemoveMember") { context, id, alice, _ in
            try await context.removeMember(alice.userID.description, from: id, for: alice)
        },
        // A member already.
        row("AddMember", notices: []) { context, id, alice, bob in
            try await context.addMember(bob.userID.description, to: id, for: alice)
        },
        row("ChangeOwnMetadata") { context, id, alice, _ in
            _ = try await context.changeOwnMetadata(.set(.empty), in: id, for: alice)
        },
        row("ChangeSharedMetadata") { context, id, alice, _ in
            _ = try await context.changeSharedMetadata(.set(.empty), in: id, for: alice)
        },
        row("ChangeOwnMessageMetadata", notices: ["messages", "messages"]) { context, id, alice, _ in
            let sent = try await context.appendMessage(try MessageBench.text("tagged"), to: id, for: alice)
            _ = try await context.changeOwnMessageMetadata(
                .merge(.object(["a": .null, "b": .bool(true)])), of: sent.id.description, in: id, for: alice)
        },
        row("ChangeSharedMessageMetadata", notices: ["messages", "messages"]) { context, id, alice, _ in
            let sent = try await context.appendMessage(try MessageBench.text("tagged"), to: id, for: alice)
            _ = try await context.changeSharedMessageMetadata(
                .merge(.object(["a": .null, "b": .bool(true)])), of: sent.id.description, in: id, for: alice)
        },
        row("DeleteMessageCopy", notices: ["messages", "messages"]) { context, id, alice, bob in
            let sent = try await context.appendMessage(try MessageBench.text("gone"), to: id, for: alice)
            try await context.deleteMessageCopy(sent.id.description, in: id, for: bob)
        },
        row("SayTyping", notices: ["typing"]) { context, id, alice, _ in
            try await context.sayTyping(in: id, for: alice)
        },
        // With the notice of the message itself.
        row("DeleteMessage", notices: ["messages", "messages"]) { context, id, alice, _ in
            let sent = try await context.appendMessage(try MessageBench.text("gone"), to: id, for: alice)
            try await context.deleteMessage(sent.id.description, in: id, for: alice)
        },
        row("DeleteMessageStream") { context, id, alice, _ in
            try await context.deleteMessageStream(id, for: alice)
        },
        .service("ChangeProfile", notices: ["presence"]) { world in
            { node in
                try await node.context.changeProfile(Service.ProfileChange(presence: .hidden), for: world.alice.session)
            }
        },
        .service("AnnouncePresence", notices: ["presence"]) { world in
            { node in
                let watch = node.context.watchMessages(of: world.alice.session.userID)
                defer { watch.end() }
                try await AnnouncePresence(node.context, node: NodeID(UUID()))()
            }
        },
    ]
    @Test("tell those who wrote with a user that it was erased")
    func erasedMember() async throws {
        var policy = Policy()
        policy.phones.pushApplications = [AuthorizationBench.application]
        try await ServiceFixture.run(policy) { fixture in
            let world = try await ConsequenceWorld(fixture)
            let (id, bob) = try await Self.conversation(world)
            _ = try await fixture.context.appendMessage(try MessageBench.text("hello"), to: id, for: bob)
            let (_, mark) = try await world.written()
            _ = try await fixture.admin.eraseUser(
                "test/alice", reason: "user_request")
            #expect(try await world.written(since: mark).0.notices.contains("messages"))
        }
    }
}
