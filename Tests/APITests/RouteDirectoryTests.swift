import HTTPTypes
import Hummingbird
import Testing

@testable import API

@Suite("The list of routes")
struct RouteDirectoryTests {
    private let directory = RouteDirectory()

    init() {
        let open = ListedRouter(PublicContext.self, listener: .public, directory: directory)
        open.get("/") { _, _ in Response(status: .ok) }
        open.post("certificates") { _, _ in Response(status: .ok) }
        let client = ListedRouter(ClientContext.self, listener: .client, directory: directory)
        client.post("sessions/resume") { _, _ in Response(status: .ok) }
        let group = client.group("sessions")
        group.get { _, _ in Response(status: .ok) }
        group.get("current") { _, _ in Response(status: .ok) }
        group.delete("current") { _, _ in Response(status: .ok) }
        group.delete(":id") { _, _ in Response(status: .ok) }
    }

    @Test("knows the methods of a path from the routers alone, HEAD wherever GET is")
    func methods() {
        #expect(directory.find("/", on: .public) == .otherMethods([.get, .head, .options]))
        #expect(directory.find("/certificates", on: .public) == .otherMethods([.options, .post]))
        #expect(directory.find("//certificates/", on: .public) == .otherMethods([.options, .post]))
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

    @Test("gives all methods of a listener for the asterisk")
    func asterisk() {
        #expect(directory.find("*", on: .client) == .otherMethods([.delete, .get, .head, .options, .post]))
    }
}
