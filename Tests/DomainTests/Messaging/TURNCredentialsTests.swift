import Domain
import Foundation
import Testing

@Suite("Credentials of TURN servers")
struct TURNCredentialsTests {
    @Test("are the base64 of the HMAC-SHA-1 of the end and the user, as coturn has it")
    func form() throws {
        let user = try #require(UserID("7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"))
        let end = Date(timeIntervalSince1970: 1_800_000_000.9)
        let made = TURNCredentials(for: user, until: end, secret: Secret("north"))
        #expect(made.username == "1800000000:7f3d5cf7-a8d5-475e-8115-cde5cfb0e715")
        // printf %s "$username" | openssl dgst -sha1 -hmac north -binary | base64
        #expect(made.password == "tqHz7vYXzozmULu4ZvArMbSDufk=")
        #expect(made.expiresAt == Date(timeIntervalSince1970: 1_800_000_000))
        #expect("\(made)" == "TURNCredentials(••••)")
        #expect(TURNCredentials(for: user, until: end, secret: Secret("south")).password != made.password)
    }

    @Test("go with servers that are written as RFC 7064 and RFC 7065 have them")
    func urls() {
        for text in ["turn:turn.example", "turns:turn.example:5349?transport=tcp", "turn:[2001:db8::1]:3478"] {
            #expect(CallPolicy.isServer(text, schemes: ["turn", "turns"]), "\(text)")
        }
        #expect(CallPolicy.isServer("stun:192.0.2.1:3478", schemes: ["stun"]))
        for text in [
            "", "turn:", "turn", "http:x", "stun:x", "turn://x", "turn:a@x", "turn:x y", "turn:x?transport=sctp",
            "turn:x?transport=udp?", "turn:x\"", "turn:" + String(repeating: "x", count: 512),
        ] {
            #expect(!CallPolicy.isServer(text, schemes: ["turn", "turns"]), "\(text)")
        }
        #expect(!CallPolicy.isServer("stun:x?transport=udp", schemes: ["stun"]))
    }
}
