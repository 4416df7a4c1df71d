import API
import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Operations

@testable import Console

/// The console of a ``ConsoleWorld``, asked as the listener asks it.
struct ServedConsole: Sendable {
    let world: ConsoleWorld
    let console: Console

    static let host = "console.example:8443"
    static let keys = FormKeys(Secret([UInt8](repeating: 3, count: 32)), generation: "g1")

    init(_ world: ConsoleWorld, _ routes: [ConsoleRoute] = ConsoleRoutes.all, patience: Patience = .usual) {
        self.world = world
        let (store, environment, personal) = (
            world.fixture.store, world.fixture.admin.environment, world.fixture.personalKeys
        )
        let policy = world.fixture.policy
        console = Console(
            ConsoleParts(service: world.fixture.context), keys: Self.keys,
            isOwnHost: { $0.utf8.elementsEqual("console.example".utf8) }, status: Listeners.status, routes: routes,
            patience: patience,
            administration: { administrator, _ in
                Administration(
                    store: store, environment: environment, actor: Console.actor(administrator),
                    administrator: administrator, fourEyesOver: policy[\.bans].fourEyesOver
                ) { personal }
            })
    }

    struct Answer {
        let status: Int
        let fields: HTTPFields
        let text: String
        let route: String
        let refusal: Refusal?
        let administrator: AdministratorID?
    }

    /// Fields of a browser that opens a page of the console from another one.
    static let reading: [(String, String)] = [("Sec-Fetch-Site", "same-origin")]
    /// Fields of a browser that sends a form of the console.
    static let acting =
        reading + [("Origin", "https://\(host)"), ("Content-Type", "application/x-www-form-urlencoded")]

    func send(
        _ method: HTTPRequest.Method, _ target: String, _ fields: [(String, String)]? = nil, body: String = "",
        thumbprint: Digest256? = nil, host: String? = Self.host
    ) async -> Answer {
        var headers = HTTPFields()
        for (name, value) in fields ?? (method == .post ? Self.acting : Self.reading) {
            if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
        }
        let reply = await console.respond(
            to: HTTPRequest(method: method, scheme: "https", authority: host, path: target, headerFields: headers),
            body: .success(Array(body.utf8)), thumbprint: thumbprint ?? world.thumbprint, id: "r1")
        return Answer(
            status: reply.head.status.code, fields: reply.head.headerFields,
            text: String(decoding: reply.body, as: UTF8.self), route: reply.route, refusal: reply.cause as? Refusal,
            administrator: reply.administrator)
    }

    /// The body of a form with its token and id.
    func form(
        _ target: String, subject: String = "", operationID: String = UUID().uuidString, _ members: [(String, String)]
    ) -> String {
        let token = FormToken(key: Self.keys.current, thumbprint: world.thumbprint)
            .issue(for: target, subject: subject, at: world.fixture.clock.now)
        let all = [("form_token", token), ("operation_id", operationID)] + members
        return String(decoding: PercentEncoding.form(all.map { (name: $0.0, value: $0.1) }), as: UTF8.self)
    }
}
