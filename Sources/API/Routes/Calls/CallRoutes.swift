import Domain
import Encoding
import Hummingbird
import Operations

/// The data that devices need to set up a call. Client listener, with a session.
struct CallRoutes: Sendable {
    private let service: Service
    private let secret: Secret<String>?

    /// - Parameter secret: the secret that the TURN servers share with the service; `nil` if there is none.
    init(_ service: Service, secret: Secret<String>?) {
        self.service = service
        self.secret = secret
    }

    func add(to router: ListedRouter<ClientContext>, behind session: RequireSession) {
        let calls = router.group("calls").behind(session)
        calls.get("servers", cost: .read) { _, context in
            let found = try await service.issueCallServers(by: secret, for: try context.checkedSession)
            // WebRTC accepts RTCIceServer in this form.
            var list: [JSONValue] = []
            if !found.stun.isEmpty { list.append(.object(["urls": Self.urls(found.stun)])) }
            if let credentials = found.credentials {
                list.append(
                    .object([
                        "urls": Self.urls(found.turn), "username": .string(credentials.username),
                        "credential": .string(credentials.password),
                    ]))
            }
            return Response.json([
                "ice_servers": .array(list),
                "expires_at": found.credentials.map { .string($0.expiresAt.rfc3339) } ?? .null,
            ])
        }
    }

    private static func urls(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}
