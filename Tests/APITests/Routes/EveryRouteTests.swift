import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import Testing

@testable import API

@Suite("Every route")
struct EveryRouteTests {
    private static let cases = [
        SessionRouteTests.cases, CertificateRouteTests.cases, PhoneRouteTests.cases, CardRouteTests.cases,
        UserRouteTests.cases, AuthorizationRouteTests.cases, ProviderRouteTests.cases, WebhookRouteTests.cases,
        DiscoveryRouteTests.cases, TokenRouteTests.cases, ProofLimitTests.cases, SharedSignalsRouteTests.cases,
        MessageStreamRouteTests.cases, AddressRouteTests.cases, ContactDiscoveryRouteTests.cases,
        UserAppRouteTests.cases, CallRouteTests.cases, PresenceRouteTests.cases, PresentationRouteTests.cases,
        WalletRouteTests.cases,
    ].flatMap(\.self)

    /// A body that somebody reads; nobody minds what it says.
    private static let json = "{}"

    @Test("has a case for each success and each refusal that the description knows, and no case is of another route")
    func covered() async throws {
        try await RouterBench.run { bench in
            let seen = Dictionary(grouping: Self.cases, by: \.route).mapValues { Set($0.map(\.status)) }
            let described = try await RouteDescription(bench)
            let routes = bench.routes.values.flatMap(\.self)
            #expect(Set(seen.keys) == Set(routes))
            #expect(Set(described.routes.keys) == Set(routes))
            for (route, one) in described.routes {
                // What every route of a kind refuses in the same way is tried on each of them below.
                var alike: Set = [400, 404, 413, 503]
                if one.mediaType != nil { alike.insert(415) }
                if one.listener == .client { alike.insert(403) }
                if one.needsSession || one.needsBearer { alike.insert(401) }
                // `CallCostTests` calls each of them too often.
                let isFree = bench.directory.costs(on: one.listener)[route] == .free
                #expect(one.statuses.contains(429) != isFree, "\(route)")
                if !isFree { alike.insert(429) }
                let missing = one.statuses.subtracting(alike).subtracting(seen[route] ?? [])
                #expect(missing.isEmpty, "\(route): \(missing.sorted()) have no case")
                let unknown = (seen[route] ?? []).subtracting(one.statuses)
                #expect(unknown.isEmpty, "\(route): \(unknown.sorted()) are not described")
                let listed = bench.directory.find(Self.path(route), on: one.listener)
                guard case .otherMethods(let methods) = listed else {
                    Issue.record("\(route) is not in the list of routes")
                    continue
                }
                #expect(methods.map(\.rawValue).contains(String(route.prefix { $0 != " " })))
            }
        }
    }

    @Test("refuses a body that is too large before anything else, and knows which listener has it, and its methods")
    func everywhere() async throws {
        try await RouterBench.run { bench in
            let connection = try await bench.fixture.connectNewDevice()
            for (listener, routes) in bench.routes {
                for route in routes {
                    let call = Self.call(route)
                    let large = try await bench.send(listener, call, headers: [.contentLength: "10000000"])
                    #expect(large.status == 413 && large.code == "payload_too_large", "\(route)")
                    large.judge()
                    let other: ListenerName = listener == .client ? .public : .client
                    // Both listeners have an endpoint for tokens.
                    guard bench.routes[other]?.contains(route) == false else {
                        #expect(route == "POST /token")
                        continue
                    }
                    let elsewhere = try await bench.send(other, call, on: connection)
                    #expect(elsewhere.status == 404 && elsewhere.code == "not_found", "\(route)")
                    #expect(
                        elsewhere.text("detail")?.contains("on the \(listener.rawValue) listener") == true, "\(route)")
                    let method = try await bench.send(listener, "TRACE " + Self.path(route), on: connection)
                    #expect(method.status == 405 && method.code == "method_not_allowed", "\(route)")
                    let allowed = method.headers[.allow]?.split(separator: ", ") ?? []
                    #expect(allowed.contains { route.hasPrefix("\($0) ") } && allowed.contains("OPTIONS"), "\(route)")
                    let options = try await bench.send(listener, "OPTIONS " + Self.path(route), on: connection)
                    #expect(options.status == 204 && options.headers[.allow] == method.headers[.allow], "\(route)")
                }
            }
        }
    }

    /// What is wrong with a session, or with what is shown for one.
    enum Session: CaseIterable {
        case none, unreadable, ended, idle, expired, ofAnotherDevice, notAttached, revoked

        var refusal: (status: Int, code: Refusal.Code) {
            switch self {
            case .none: (401, .sessionRequired)
            case .unreadable: (400, .malformedRequest)
            case .ended: (401, .sessionDestroyed)
            case .idle: (401, .sessionChallenged)
            case .expired: (401, .sessionExpired)
            case .ofAnotherDevice: (403, .bindingMismatch)
            case .notAttached: (401, .sessionNotAttached)
            case .revoked: (403, .certificateRevoked)
            }
        }
    }

    @Test("behind a session refuses whoever has none that counts, by the same code", arguments: Session.allCases)
    func sessions(_ what: Session) async throws {
        try await RouterBench.run(
            RouterBench.policy { policy in
                policy.certification.perHourPerSender.perAddress = 1000
                if what == .notAttached { policy.sessions.attach = .explicit }
            }
        ) { bench in
            for route in try await RouteDescription(bench).routes.filter(\.value.needsSession).keys.sorted() {
                let person = try await bench.signIn(UUID().uuidString)
                var connection = person.connection
                var authorization: String? = "Layer session-token=\"\(person.token)\""
                switch what {
                case .none: authorization = nil
                case .unreadable: authorization = "Layer token=\"x\""
                case .ended: _ = try await person.send("DELETE /sessions/current")
                case .idle: bench.fixture.clock.advance(3600)
                // An hour without use challenges it, and a day later it has expired.
                case .expired: bench.fixture.clock.advance(90_001)
                case .ofAnotherDevice: connection = try await bench.fixture.connectNewDevice()
                case .notAttached: connection = try await bench.fixture.connect(connection.thumbprint)
                case .revoked: _ = try await person.send("DELETE /certificates/current")
                }
                let reply = try await bench.client(
                    Self.call(route), json: route.hasPrefix("GET") ? nil : Self.json, authorization: authorization,
                    on: connection)
                #expect(reply.status == what.refusal.status && reply.code == what.refusal.code.rawValue, "\(route)")
                reply.judge()
            }
        }
    }

    @Test("that takes an identity token in its header counts it like any other sign-in")
    func signIns() async throws {
        try await RouterBench.run(RouterBench.policy { $0.sessions.createdPerMinute = 1 }) { bench in
            let person = try await bench.signIn()
            let described = try await RouteDescription(bench)
            for route in described.routes.filter(\.value.needsSession).keys {
                // Those of sessions take no identity token but one.
                guard !route.contains(" /sessions") || route == "GET /sessions/current" else { continue }
                let token = try bench.fixture.identityToken("alice", on: person.connection)
                let reply = try await bench.client(
                    Self.call(route), authorization: "Layer identity-token=\"\(token)\"", on: person.connection)
                #expect(reply.status == 429 && reply.code == "rate_limited", "\(route): \(reply.status)")
                reply.judge()
            }
        }
    }

    @Test("refuses a device whose certificate is nobody's, and decides nothing while the clock is wrong")
    func certificates() async throws {
        try await RouterBench.run { bench in
            let connection = try await bench.fixture.connectNewDevice()
            let stranger = ClientConnection(id: ConnectionID(UUID()), thumbprint: Digest256.of("stranger")) {}
            for route in try #require(bench.routes[.client]) {
                let reply = try await bench.client(Self.call(route), on: stranger)
                #expect(reply.status == 403 && reply.code == "certificate_revoked", "\(route)")
                reply.judge()
            }
            let bearer = try bench.bearer()
            var policy = bench.fixture.policy[\.self]
            policy.bans.maximumClockDifference = -1
            bench.fixture.policy.replace(with: policy)
            for (route, one) in try await RouteDescription(bench).routes
            where one.listener == .client || one.needsBearer {
                let reply =
                    one.listener == .client
                    ? try await bench.client(Self.call(route), on: connection)
                    : try await bench.open(Self.call(route), bearer: bearer)
                #expect(reply.status == 503 && reply.code == "unavailable", "\(route): \(reply.status)")
                #expect(reply.headers[.retryAfter] != nil, "\(route)")
                reply.judge()
            }
        }
    }

    @Test("of a provider refuses who shows no token, and who shows one that is none")
    func bearers() async throws {
        try await RouterBench.run { bench in
            for route in try await RouteDescription(bench).routes.filter(\.value.needsBearer).keys {
                for (bearer, code) in [(nil, "provider_token_required"), ("x.y.z", "provider_token_invalid")] {
                    let reply = try await bench.open(Self.call(route), body: Self.json, bearer: bearer)
                    #expect(reply.status == 401 && reply.code == code, "\(route): \(reply.status)")
                    reply.judge()
                }
            }
        }
    }

    @Test("that reads a body refuses another media type, what is no JSON, and members that it does not know")
    func bodies() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            for (route, one) in try await RouteDescription(bench).routes {
                guard let mediaType = one.mediaType else { continue }
                func ask(_ body: String, _ type: String?) async throws -> Reply {
                    let call = Self.call(route)
                    var headers: HTTPFields = [:]
                    headers[.contentType] = type
                    let words = call.split(separator: " ").map(String.init)
                    if one.listener == .client { headers[.authorization] = "Layer session-token=\"\(person.token)\"" }
                    if one.needsBearer { headers[.authorization] = "Bearer \(try bench.bearer())" }
                    if ProviderDemandTests.table[route]?.proof == .required {
                        headers[.authorization] = "Bearer \(try bench.proof(words[0], words[1], body))"
                    }
                    return try await bench.send(
                        one.listener, call, headers: headers, body: RequestBody(buffer: ByteBuffer(string: body)),
                        on: one.listener == .client ? person.connection : nil)
                }
                let other = try await ask("{}", "text/plain")
                #expect(other.status == 415 && other.code == "unsupported_media_type", "\(route): \(other.status)")
                other.judge()
                let none = try await ask("", nil)
                // A renewal needs no body.
                let isRefused = none.status == 415 && none.text("detail")?.contains("is missing") != false
                #expect(isRefused || route == "POST /certificates/renewal", "\(route): \(none.status)")
                guard mediaType == "application/json" else { continue }
                // What receivers of Shared Signals send besides is ignored.
                let surplus = route.contains(" /ssf/") ? [] : [#"{"surplus":1}"#]
                for body in ["{", "[]", #"{"a":1,"a":2}"#] + surplus {
                    let reply = try await ask(body, "application/json; charset=utf-8")
                    #expect(
                        reply.status == 400 && reply.code == "malformed_request", "\(route) \(body): \(reply.status)")
                    reply.judge()
                }
            }
        }
    }

    /// The path of a route, with something in the place of each parameter.
    static func path(_ route: String) -> String {
        let parts = route.split(separator: " ")[1].split(separator: "/").map { $0.hasPrefix("{") ? "x" : String($0) }
        return "/" + parts.joined(separator: "/")
    }

    private static func call(_ route: String) -> String { route.prefix { $0 != " " } + " " + path(route) }
}

/// What the service's own description says of its routes.
struct RouteDescription {
    struct Route {
        let listener: ListenerName
        let statuses: Set<Int>
        /// Of the body that it reads.
        let mediaType: String?
        let needsSession: Bool
        let needsBearer: Bool
        /// Whether it reads `Countersign-Proof`.
        let takesProof: Bool
    }

    let routes: [String: Route]

    init(_ bench: RouterBench) async throws {
        let document = try StrictJSON.parse(try await bench.open("GET /openapi.json").body)
        var found: [String: Route] = [:]
        guard case .object(let paths) = document["paths"] else { throw Refusal(.notFound, "no paths") }
        for path in paths {
            guard case .object(let methods) = path.value else { continue }
            for method in methods {
                guard case .object(let responses) = method.value["responses"] else { continue }
                let route = "\(method.name.uppercased()) \(path.name)"
                let listener = try #require(bench.routes.first { $0.value.contains(route) }?.key, "\(route)")
                let statuses = Set(responses.compactMap { Int($0.name) })
                var mediaType: String?
                if case .object(let content) = method.value["requestBody"]?["content"] {
                    mediaType = content.first?.name
                }
                let ownTokens = [
                    "GET /nonce", "POST /sessions/resume", "POST /sessions/renew", "DELETE /sessions/current",
                    "POST /certificates/renewal", "POST /provider/events", "POST /token",
                ].contains(route)
                found[route] = Route(
                    listener: listener, statuses: statuses, mediaType: mediaType,
                    needsSession: listener == .client && statuses.contains(401) && !ownTokens,
                    needsBearer: listener == .public && statuses.contains(401) && !ownTokens,
                    takesProof: Self.names(of: method.value).contains("Countersign-Proof"))
            }
        }
        routes = found
    }

    /// The names of a call's parameters.
    private static func names(of call: JSONValue) -> [String] {
        guard case .array(let parameters) = call["parameters"] else { return [] }
        return parameters.compactMap { $0["name"]?.text }
    }
}
