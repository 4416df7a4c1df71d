import Domain
import HTTPTypes
import Hummingbird
import Testing

@testable import API

@Suite("The list of routes")
struct RouteDirectoryTests {
    private let directory = RouteDirectory()

    init() {
        let open = ListedRouter(PublicContext.self, listener: .public, directory: directory) { _, _ in }
        open.get("/", cost: .free) { _, _ in Response(status: .ok) }
        open.post("certificates", cost: .write) { _, _ in Response(status: .ok) }
        let client = ListedRouter(ClientContext.self, listener: .client, directory: directory) { _, _ in }
        client.post("sessions/resume", cost: .write) { _, _ in Response(status: .ok) }
        let group = client.group("sessions")
        group.get(cost: .read) { _, _ in Response(status: .ok) }
        group.get("current", cost: .read) { _, _ in Response(status: .ok) }
        group.delete("current", cost: .write) { _, _ in Response(status: .ok) }
        group.delete(":id", cost: .heavy) { _, _ in Response(status: .ok) }
    }

    @Test("knows the methods of a path from the routers alone, HEAD wherever GET is")
    func methods() {
        #expect(directory.find("/", on: .public) == .otherMethods([.get, .head, .options]))
        #expect(directory.find("/certificates", on: .public) == .otherMethods([.options, .post]))
        #expect(directory.find("/sessions", on: .client) == .otherMethods([.get, .head, .options]))
        #expect(directory.find("/sessions/5", on: .client) == .otherMethods([.delete, .options]))
    }

    @Test("tells the methods of the route that the router would choose, not of all that fit")
    func choice() {
        #expect(directory.find("/sessions/current", on: .client) == .otherMethods([.delete, .get, .head, .options]))
        #expect(directory.find("/sessions/resume", on: .client) == .otherMethods([.options, .post]))
    }

    @Test("says which other listener has a path, and of an unknown one nothing")
    func elsewhere() {
        #expect(directory.find("/sessions/5", on: .public) == .elsewhere(.client))
        #expect(directory.find("/certificates", on: .ops) == .elsewhere(.public))
        #expect(directory.find("/sessions/5/6", on: .public) == .nowhere)
        #expect(directory.find("/certificate", on: .client) == .nowhere)
    }

    @Test("knows what a call of each route costs, by the listener")
    func costs() {
        #expect(directory.costs(on: .public) == ["GET /": .free, "POST /certificates": .write])
        #expect(
            directory.costs(on: .client) == [
                "POST /sessions/resume": .write, "GET /sessions": .read, "GET /sessions/current": .read,
                "DELETE /sessions/current": .write, "DELETE /sessions/{id}": .heavy,
            ])
        #expect(directory.costs(on: .ops).isEmpty)
    }

    @Test("knows no path with an empty part, and none without a slash before it")
    func empty() {
        for path in ["//certificates", "/certificates/", "/certificates//", "//", "certificates", ""] {
            #expect(directory.find(path, on: .public) == .nowhere, "\(path)")
        }
        for path in ["/sessions//5", "/sessions//current", "/sessions/", "//sessions/current", "/sessions/current/"] {
            #expect(directory.find(path, on: .client) == .nowhere, "\(path)")
        }
    }

    @Test("gives all methods of a listener for the asterisk")
    func asterisk() {
        #expect(directory.find("*", on: .client) == .otherMethods([.delete, .get, .head, .options, .post]))
    }
}
