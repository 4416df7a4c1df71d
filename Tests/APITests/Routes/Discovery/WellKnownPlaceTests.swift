import Fixtures
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Operations
import Testing

@testable import API

/// RFC 8414 §3.1 and RFC 9728 §3.1: the path of a service's URL follows the name of the document.
@Suite("A document at a well-known place")
struct WellKnownPlaceTests {
    @Test("is at the place of a URL with a path, and at that of no other path")
    func places() async throws {
        let urls = ServiceURLs(publicURL: { "https://a.example/auth" }, clientURL: { "https://b.example/one/two" })
        let (open, client) = (
            ListedRouter(PublicContext.self, listener: .public, directory: RouteDirectory()) { _, _ in },
            ListedRouter(ClientContext.self, listener: .client, directory: RouteDirectory()) { _, _ in }
        )
        MetadataRoutes(urls: urls).addPublic(to: open)
        MetadataRoutes(urls: urls).addClient(to: client)
        let (openResponder, clientResponder) = (open.router.buildResponder(), client.router.buildResponder())
        let name = "/.well-known/oauth-authorization-server"
        for (path, status) in [(name, 200), (name + "/auth", 200), (name + "/other", 404), (name + "/auth/x", 404)] {
            let found = try await Self.status(path) {
                try await openResponder.respond(to: $0, context: PublicContext(source: $1))
            }
            #expect(found == status, "\(path)")
        }
        let resource = "/.well-known/oauth-protected-resource"
        for (path, status) in [(resource, 200), (resource + "/one/two", 200), (resource + "/one", 404)] {
            let found = try await Self.status(path) {
                try await clientResponder.respond(to: $0, context: ClientContext(source: $1))
            }
            #expect(found == status, "\(path)")
        }
    }

    private static func status(
        _ path: String, _ respond: (Request, ApplicationRequestContextSource) async throws -> Response
    ) async throws -> Int {
        let request = Request(
            head: HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: path),
            body: RequestBody(buffer: ByteBuffer()))
        let source = ApplicationRequestContextSource(channel: NIOAsyncTestingChannel(), logger: Logger(label: "test"))
        do {
            return try await respond(request, source).status.code
        } catch let error as HTTPError {
            return error.status.code
        }
    }

    @Test("is declared with the URL that it describes, unless only this service defines its name")
    func declared() throws {
        // Of a key set other documents have the URL.
        let own: Set = [".well-known/countersign", ".well-known/jwks.json"]
        var found = 0
        for file in try SourceFile.all(below: "Sources/API") {
            for line in file.text.split(separator: "\n") where line.contains("router.get(\".well-known/") {
                found += 1
                let isOwn = own.contains { line.contains("\"\($0)\"") }
                #expect(isOwn || line.contains("describing: "), "\(file.path): \(line)")
            }
        }
        #expect(found >= 5)
    }
}
