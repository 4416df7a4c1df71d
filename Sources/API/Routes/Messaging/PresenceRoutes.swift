import Domain
import Encoding
import HTTPTypes
import Hummingbird
import Operations

/// Whether other users are online. Client listener, with a session.
struct PresenceRoutes: Sendable {
    let service: Service

    func add(to router: ListedRouter<ClientContext>, behind session: RequireSession) {
        let presence = router.group("presence").behind(session)
        presence.get(cost: .heavy, query: ["users"]) { request, context in
            guard let users = request.uri.queryParameters["users"] else {
                throw Service.PresenceQuestion.refusal(of: "users")
            }
            let question = try Service.PresenceQuestion(users, in: "users")
            try service.limitStreamReads(on: try context.connection)
            let found = try await service.readPresence(question, for: try context.checkedSession)
            return .json(["presence": .array(found.map(Self.json))])
        }
    }

    static func json(_ presence: UserPresence) -> JSONValue {
        .object([
            "user_id": .id(presence.user), "online": .bool(presence.isOnline),
            "last_seen": .text(presence.lastSeen?.rfc3339),
        ])
    }
}

extension Service.PresenceQuestion {
    static func refusal(of parameter: String) -> Refusal {
        .parameterMustBe("1 to \(limit) user ids, separated by commas", parameter)
    }

    /// Parses a query parameter; `nil` asks for nobody.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    init(_ text: Substring?, in parameter: String) throws(Refusal) {
        guard let text else {
            self = .nobody
            return
        }
        guard let question = Service.PresenceQuestion(String(text)) else { throw Self.refusal(of: parameter) }
        self = question
    }
}
