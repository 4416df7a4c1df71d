import CountersignClient
import Fixtures
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The article on a first app")
struct FirstAppTests {
    private func file(_ path: String) throws -> [Substring] {
        try String(contentsOf: RunningService.root.appending(path: path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test("has the code of an app that is compiled here, line by line and in its order")
    func blocks() throws {
        let article = try file("Sources/CountersignClient/CountersignClient.docc/FirstApp.md")
        let app = try file("Tests/CountersignClientTests/Article/FirstApp.swift")
        var rest = app[...]
        var isCode = false
        var lines = 0
        for line in article {
            if line.hasPrefix("```") {
                isCode = line == "```swift"
            } else if isCode {
                lines += 1
                let wanted = String(repeating: " ", count: 8) + line
                let found = rest.firstIndex { $0 == wanted }
                #expect(found != nil, "the app lacks: \(line)")
                if let found { rest = rest[(found + 1)...] }
            }
        }
        #expect(lines > 25)
    }

    @Test("leads from an empty app to a verified user")
    func run() async throws {
        let service = try await LiveService(policies: ["phones.yaml": "presence_required: true\n"])
        let place = try ScratchDirectory()
        let number = "+14155550155"
        let app = FirstApp(
            publicURL: service.publicURL, clientURL: service.clientURL, pins: service.pins,
            authority: service.authority, keys: FileKeys(directory: URL(filePath: place.file("keys"))),
            presenceKeys: FileKeys(directory: URL(filePath: place.file("presence"))),
            store: FileStore(file: URL(filePath: place.file("secret.json"))),
            backend: .init { try service.identityToken("alice", $0) },
            user: .init { try await service.code(textedTo: number) }, phoneNumber: number,
            barcode: try #require(CardSpecimen("VA")).text, providerID: service.provider)
        let (lines, request) = try await app.run()
        #expect(
            lines.dropFirst() == [
                "Signed in as devices/alice.", "Still devices/alice.", "The card is verified, the level is barcode.",
                "The backend gave no token: CancellationError()",
            ])
        #expect(request.value(forHTTPHeaderField: "Authorization")?.hasPrefix("DPoP ey") == true)
        #expect(request.value(forHTTPHeaderField: "DPoP")?.split(separator: ".").count == 3)
    }
}
