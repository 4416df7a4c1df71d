import Domain
import Testing

@testable import API

@Suite("The Layer authorization field")
struct AuthorizationHeaderTests {
    @Test(
        "is read with either quote, none, in any order and case",
        arguments: [
            "Layer session-token=\"abc\"", "layer Session-Token='abc'", "LAYER realm=\"r\", session-token=abc",
            "Bearer abc", "bearer  abc", "Layer   session-token = \"abc\" ,realm='x y'",
        ])
    func sessions(field: String) throws {
        #expect(try AuthorizationHeader(field) == .session("abc"))
    }

    @Test("of a banned user holds what opens the own data")
    func export() throws {
        #expect(try AuthorizationHeader("Layer export-token='abc'") == .export("abc"))
    }

    @Test("names app and realm beside an identity token")
    func identity() throws {
        let field = "Layer app-id='7', identity-token=\"a.b.c\", realm=\"here\""
        #expect(try AuthorizationHeader(field) == .identity(token: "a.b.c", applicationID: "7", realm: "here"))
    }

    @Test(
        "of another scheme, or absent, says nothing",
        arguments: [nil, "Bearer", "Bearer ", "Basic abc", "Layer", "Layered session-token=a"])
    func nothing(field: String?) throws {
        #expect(try AuthorizationHeader(field) == .none)
    }

    @Test(
        "that can be read in two ways is refused",
        arguments: [
            "Layer session-token=\"a\", identity-token=\"b\"",
            "Layer session-token=a, export-token=b", "Layer session-token=\"a\", session-token=\"a\"",
            "Layer session-token=\"a", "Layer token=\"a\"", "Layer session-token", "Layer session-token=\"\"",
            "Layer session-token=\"a\"x=1", "Layer =a",
        ])
    func malformed(field: String) {
        #expect(throws: Refusal(.malformedRequest, "")) { try AuthorizationHeader(field) }
    }

    @Test("of any content is answered or refused, never more")
    func fuzz() {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "Layer ", "session-token", "identity-token", "=", "\"", "'", ",", " ", "a.b", "\t", "é", "realm", "\\",
        ]
        for _ in 0..<5000 {
            let field =
                "Layer "
                + (0..<Int.random(in: 0..<12, using: &generator)).map { _ in
                    pieces[Int.random(in: 0..<pieces.count, using: &generator)]
                }.joined()
            do throws(Refusal) { _ = try AuthorizationHeader(field) } catch { #expect(error.code == .malformedRequest) }
        }
        #expect(throws: Refusal(.malformedRequest, "")) {
            try AuthorizationHeader("Layer " + String(repeating: "a", count: 20_000))
        }
    }
}
