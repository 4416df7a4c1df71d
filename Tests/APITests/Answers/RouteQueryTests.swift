import Domain
import Encoding
import HTTPTypes
import Hummingbird
import Testing

@testable import API

@Suite("The query of a request")
struct RouteQueryTests {
    /// Calls whose standard requires that unknown parameters are ignored.
    private static func ignoresOthers(_ route: String) -> Bool {
        let path = route.split(separator: " ")[1]
        return ["/ssf/", "/.well-known/", "/wallet/"].contains { path.hasPrefix($0) }
            || ["/", "/openapi.json", "/token", "/introspect", "/revoke"].contains(path)
    }

    @Test("with an unknown or a repeated parameter is refused on every route, unless its standard ignores it")
    func everywhere() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            for listener in ListenerName.allCases {
                for (route, query) in bench.directory.calls(on: listener).mapValues(\.query) {
                    #expect(query.ignoresOthers == Self.ignoresOthers(route), "\(route)")
                    func ask(_ text: String) async throws -> Reply {
                        try await bench.send(
                            listener, "\(route.prefix { $0 != " " }) \(EveryRouteTests.path(route))?\(text)",
                            headers: [.authorization: "Layer session-token=\"\(person.token)\""],
                            on: listener == .client ? person.connection : nil)
                    }
                    let unknown = try await ask("surplus=1")
                    let detail = unknown.text("detail") ?? ""
                    #expect(detail.contains("surplus") == !query.ignoresOthers, "\(route): \(detail)")
                    guard !query.ignoresOthers else { continue }
                    #expect(unknown.status == 400 && unknown.code == "malformed_request", "\(route)")
                    #expect(query.names.allSatisfy { detail.contains($0) }, "\(route): \(detail)")
                    unknown.judge()
                    for name in query.names {
                        let whole = name.hasSuffix(".") ? name + "x" : name
                        let repeated = try await ask("\(whole)=1&\(whole)=1")
                        #expect(repeated.status == 400, "\(route) \(name)")
                        #expect(repeated.text("detail") == Refusal.queryRepeats(whole).detail, "\(route)")
                    }
                }
            }
            // None of these calls did what its route does.
            #expect(try await person.send("GET /sessions/current").status == 200)
        }
    }

    @Test("has the parameters that the description of its route has")
    func described() async throws {
        try await RouterBench.run { bench in
            let document = try StrictJSON.parse(try await bench.open("GET /openapi.json").body)
            for listener in ListenerName.allCases {
                for (route, query) in bench.directory.calls(on: listener).mapValues(\.query) {
                    let words = route.split(separator: " ").map(String.init)
                    let call = document["paths"]?[words[1]]?[words[0].lowercased()]
                    #expect(call != nil, "\(route)")
                    guard case .array(let parameters) = call?["parameters"] ?? .array([]) else { continue }
                    let names = parameters.filter { $0["in"]?.text == "query" }.compactMap { $0["name"]?.text }
                    #expect(names.sorted() == query.names.sorted(), "\(route)")
                }
            }
        }
    }

    private static let query: RouteQuery = ["kind", "metadata.shared."]

    @Test(
        "accepts each declared parameter once",
        arguments: [
            nil, "", "kind", "kind=x", "kind=x&", "metadata.shared.a=1&metadata.shared.b=1&kind=",
        ])
    func accepted(_ query: String?) throws {
        try Self.query.check(query)
    }

    @Test(
        "has its names as they are sent",
        arguments: [
            ("Kind=x", "Kind"), ("%6bind=x", "%6bind"), ("=x", ""), ("kind=x&kind=x", "kind"),
            ("metadata.shared.=x", "metadata.shared."), ("metadata.shared=x", "metadata.shared"),
            ("metadata.shared.a=x&metadata.shared.a=y", "metadata.shared.a"), ("kinds=x", "kinds"),
        ])
    func refused(_ query: String, _ name: String) {
        let refusal = #expect(throws: Refusal.self) { try Self.query.check(query) }
        #expect(refusal?.code == .malformedRequest)
        #expect(refusal?.detail.contains(" \(name)") == true, "\(refusal?.detail ?? "")")
    }

    @Test("has at most 16 parameters")
    func many() throws {
        func query(_ count: Int) -> String { (1...count).map { "metadata.shared.\($0)=x" }.joined(separator: "&") }
        try Self.query.check(query(16))
        let refusal = #expect(throws: Refusal.self) { try Self.query.check(query(17)) }
        #expect(refusal?.detail == Refusal.queryTooLong(allowed: 16).detail)
        #expect(throws: Refusal.self) { try Self.query.check(query(1000)) }
    }
}
