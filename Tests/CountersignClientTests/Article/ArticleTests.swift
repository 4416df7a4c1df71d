import CountersignClient
import Fixtures
import Foundation
import Testing

@Suite("The articles of the SDK")
struct ArticleTests {
    private static func url(_ path: String) -> URL { RunningService.root.appending(path: path) }

    private static func lines(_ path: String) throws -> [Substring] {
        try String(contentsOf: url(path), encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Every article but that of the first app, whose blocks are whole files.
    private static func articles() throws -> [String] {
        try ["CountersignClient", "CountersignSync"].flatMap { library in
            let folder = "Sources/SwiftSDK/\(library)/\(library).docc"
            return try FileManager.default.contentsOfDirectory(atPath: url(folder).path).sorted()
                .filter { $0.hasSuffix(".md") && $0 != "FirstApp.md" }.map { "\(folder)/\($0)" }
        }
    }

    @Test("have the code of apps that are compiled here, line by line and in its order")
    func blocks() throws {
        let articles = try Self.articles()
        #expect(articles.count >= 3)
        for article in articles {
            let app = Self.url(article).deletingPathExtension().lastPathComponent + "App"
            var rest = try Self.lines("Tests/CountersignClientTests/Article/\(app).swift")[...]
            var isCode = false
            var count = 0
            for line in try Self.lines(article) {
                if line.hasPrefix("```") {
                    isCode = line == "```swift"
                } else if isCode {
                    count += 1
                    let wanted = String(repeating: " ", count: 8) + line
                    let found = rest.firstIndex { $0 == wanted }
                    #expect(found != nil, "\(app) lacks: \(line)")
                    if let found { rest = rest[(found + 1)...] }
                }
            }
            #expect(count > 15, "\(article)")
        }
    }

    @Test("send, read, mark and delete messages")
    func streams() async throws {
        let live = try await LiveService(policies: LiveService.openStreams)
        let (ann, _) = (try await MessagingDevice(live, "ann"), try await MessagingDevice(live, "bob"))
        let app = StreamsApp(client: ann.app.client, picture: Data([0, 255]))
        #expect(
            try await within(30) { try await app.run() } == [
                "Message 1 is sent.", "2 messages, and that is all.", "1: Lunch?", "2: At noon?",
                "There is no such stream.",
            ])
    }

    @Test("keep, show and search messages on the device")
    func synchronization() async throws {
        let live = try await LiveService(policies: LiveService.openStreams)
        let (ann, _) = (try await MessagingDevice(live, "ann"), try await MessagingDevice(live, "bob"))
        let file = URL(filePath: ann.app.directory.file("article.db"))
        let app = SynchronizationApp(client: ann.app.client, session: ann.session, file: file)
        #expect(
            try await within(30) { try await app.run() } == [
                "Shall we meet at the café? (sent)", "1 conversation, 0 unread.", "Found: meet, café", "In: Café plans",
                "true, true",
            ])
    }

    @Test("find users, and ask for a permission")
    func contacts() async throws {
        let service = try await LiveService(policies: ["authorizations.yaml": "required_level: phone\n"])
        let alice = try await ContactFlowTests.proven(service, "alice", "+14155550101")
        let bob = try await ContactFlowTests.proven(service, "bob", "+14155550102")
        for kind in Addresses.Kind.allCases { try await alice.app.client.addresses.share(kind) }
        // The set is filled beside the service's other work.
        for _ in 0..<240 {
            if try await !bob.app.client.contacts.find(["+14155550101"]).isEmpty { break }
            try await Task.sleep(for: .milliseconds(500))
        }
        let app = ContactsApp(client: bob.app.client, alice: alice.id)
        #expect(
            try await app.run() == [
                "Others find this user by name.", "Alice is here.", "Two entries are one person by 87 percent.",
                "Found: 1.", "The state is REQUEST.",
            ])
    }

    @Test("ask a wallet for an age and an identity")
    func wallets() async throws {
        let service = try await LiveService()
        let origin = "https://app.example"
        try await service.enableWallets(for: origin)
        let (ann, _) = try await ContactFlowTests.proven(service, "ann", "+14155550101")
        let app = WalletsApp(client: ann.client) { try await service.walletAnswer(to: $0, from: origin) }
        #expect(
            try await app.run() == ["The user is an adult.", "The card is verified, the level is credential."])
        let declined = WalletsApp(client: ann.client) { _ in throw CancellationError() }
        // Each request is deleted, so more than three can be declined.
        for _ in 0..<4 { await #expect(throws: CancellationError.self) { try await declined.run() } }
    }
}
