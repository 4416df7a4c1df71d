import HTTPTypes
import Testing

@testable import API

@Suite("The path of every route")
struct RoutePathTests {
    @Test("is taken as it is: with a slash more, wherever it stands, there is nothing, and nothing is done")
    func slashes() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            for (listener, routes) in bench.routes {
                for route in routes {
                    let method = route.prefix { $0 != " " }
                    for path in Self.withOneSlashMore(EveryRouteTests.path(route)) {
                        let reply = try await bench.send(
                            listener, "\(method) \(path)",
                            headers: [.authorization: "Layer session-token=\"\(person.token)\""],
                            on: listener == .client ? person.connection : nil)
                        #expect(
                            reply.status == 404 && (method == "HEAD" || reply.code == "not_found"), "\(route) \(path)")
                        #expect(bench.log.lines.last?.contains("route=unmatched") == true, "\(route) \(path)")
                    }
                    let options = try await bench.send(
                        listener, "OPTIONS /" + EveryRouteTests.path(route), on: person.connection)
                    #expect(options.status == 404 && options.headers[.allow] == nil, "\(route)")
                }
            }
            // What the routes would have done to the session was not done.
            #expect(try await person.send("GET /sessions/current").status == 200)
        }
    }

    /// A path with each of its slashes doubled, and with one and two at its end.
    private static func withOneSlashMore(_ path: String) -> [String] {
        let doubled = path.indices.filter { path[$0] == "/" }.map { path[..<$0] + "/" + path[$0...] }
        return doubled.map(String.init) + (path == "/" ? [] : [path + "/", path + "//"])
    }
}
