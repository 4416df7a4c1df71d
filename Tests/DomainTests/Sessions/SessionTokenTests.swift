import Domain
import Encoding
import Foundation
import Testing

@Suite("A session's token")
struct SessionTokenTests {
    private let id = SessionID(UUID())

    @Test("has 16 bytes of the session's id and 32 random ones, and is read again as it was made")
    func form() throws {
        let made = SessionToken(of: id, randomBytes: Array(0..<32))
        let bytes = try #require(Base64URL.decode(made.text.reveal()))
        #expect(bytes == withUnsafeBytes(of: id.uuid.uuid) { Array($0) } + Array(0..<32))
        let shown = try #require(SessionToken(shown: made.text.reveal()))
        #expect(shown.sessionID == id && shown.hash == made.hash && shown.hash == .of(made.text.reveal()))
    }

    @Test(
        "of another length or another alphabet is none",
        arguments: ["", String(repeating: "A", count: 43), String(repeating: "A", count: 65)]
            + ["=", "+", "/", " ", "é"].map { $0 + String(repeating: "A", count: 64 - $0.utf8.count) })
    func none(text: String) {
        #expect(SessionToken(shown: text) == nil)
    }
}
