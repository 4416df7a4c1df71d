import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

extension ConsequenceTests {
    /// A conversation of alice's and bob's.
    private static func conversation(_ world: ConsequenceWorld) async throws -> (id: String, bob: Session) {
        let (alice, bob) = try await world.verified()
        let context = world.fixture.context
        let asked = try await RequestPermission(context)(
            try .init(id: UUID().uuidString, to: bob.session.userID.description, eventID: nil), for: alice.session)
        _ = try await AnswerAuthorization(context).approve(asked.description, for: bob.session)
        let stream = try await OpenMessageStream(context)(
            try MessageBench.opening("conversation", [bob.session.userID.description]), for: alice.session)
        return (stream.id.description, bob.session)
    }

    /// A row of an operation that changes the conversation.
    private static func row(
        _ operation: String, notices: [String] = ["messages"],
        _ act: @escaping @Sendable (ServiceContext, String, Session, Session) async throws -> Void
    ) -> Row {
        .service(operation, notices: notices) { world in
            let (id, bob) = try await conversation(world)
            _ = try await AppendMessage(world.fixture.context)(
                try MessageBench.text("hello"), to: id, for: world.alice.session)
            return { node in try await act(node.context, id, world.alice.session, bob) }
        }
    }

    static let addressRows: [Row] = [
        .service("ShareAddress") { world in
            { node in try await ShareAddress(node.context).share("name", for: world.alice.session) }
        },
        .service("ResolveAddress") { world in
            try await world.cards.prove("+14155552671", world.alice)
            return { node in
                await #expect(throws: Refusal(.notFound, "")) {
                    try await ResolveAddress(node.context)(try SoughtAddress("test/nobody"), for: world.alice.session)
                }
            }
        },
        .service("DiscoverContacts") { world in
            try await world.cards.prove("+14155552671", world.alice)
            return { node in _ = try await DiscoverContacts(node.context).week(for: world.alice.session) }
        },
        .service("IssueCallServers") { world in
            try await world.cards.prove("+14155552671", world.alice)
            return { node in
                _ = try await IssueCallServers(node.context, secret: nil)(for: world.alice.session)
            }
        },
    ]

    static let messageStreamRows: [Row] = [
        .service("OpenMessageStream", notices: ["messages"]) { world in
            try await world.cards.prove("+14155552671", world.alice)
            return { node in
                _ = try await OpenMessageStream(node.context)(
                    try MessageBench.opening("conversation", []), for: world.alice.session)
            }
        },
        row("AppendMessage") { context, id, alice, _ in
            _ = try await AppendMessage(context)(try MessageBench.text("again"), to: id, for: alice)
        },
        row("AcknowledgeMessages") { context, id, _, bob in
            _ = try await AcknowledgeMessages(context)(delivered: 1, read: nil, in: id, for: bob)
        },
        row("ChangeStreamMembers") { context, id, alice, _ in
            try await ChangeStreamMembers(context).remove(alice.userID.description, from: id, for: alice)
        },
        row("ChangeStreamMetadata") { context, id, alice, _ in
            _ = try await ChangeStreamMetadata(context).share(.set(.empty), in: id, for: alice)
        },
        row("SayTyping", notices: ["typing"]) { context, id, alice, _ in
            try await SayTyping(context)(in: id, for: alice)
        },
        row("DeleteMessages") { context, id, alice, _ in
            try await DeleteMessages(context).delete(id, for: alice)
        },
    ]
    @Test("tell those who wrote with a user that it was erased")
    func erasedMember() async throws {
        var policy = Policy()
        policy.phones.pushApplications = [AuthorizationBench.application]
        try await ServiceFixture.run(policy) { fixture in
            let world = try await ConsequenceWorld(fixture)
            let (id, bob) = try await Self.conversation(world)
            _ = try await AppendMessage(fixture.context)(try MessageBench.text("hello"), to: id, for: bob)
            let (_, mark) = try await world.written()
            _ = try await EraseNamedUser(fixture.admin, keys: fixture.personalKeys)(
                "test/alice", reason: "user_request")
            #expect(try await world.written(since: mark).0.notices.contains("messages"))
        }
    }
}
