import Domain
import Testing

@testable import countersign

@Suite("The commands for attested apps")
struct AttestedAppCommandTests {
    @Test("show the digest of a package's certificate in the form in which they take it")
    func forms() async throws {
        let world = try await ExampleWorld()
        func report(_ act: String, _ options: [String]) async throws -> Report {
            try await world.end(["provider", "app", "attest", act, world.app.description] + options).get()
        }
        let digits = String(repeating: "0aF", count: 21) + "1"
        let named = ["--android", "com.example.app", "--certificate"]
        let shown = "android:com.example.app:\(digits.lowercased())"
        for (act, options) in [("add", named + [digits]), ("list", []), ("remove", named + [digits, "--dry-run"])] {
            #expect(Output.text(try await report(act, options), width: nil).contains(shown), "\(act)")
        }
        let listed = try await report("list", [])
        #expect(Output.text(listed.json).contains(shown))
        // What the list shows can be typed.
        let copied = try #require(shown.split(separator: ":").last)
        _ = try await report("remove", named + [String(copied)])
        #expect(try await report("list", []).notes == ["There is nothing to list."])
    }
}
