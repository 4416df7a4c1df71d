import Domain
import Encoding
import Fixtures
import Foundation
import Testing
import Tokens

@Suite("Key sets of issuers")
struct WebKeySetTests {
    private static let all = SignatureAlgorithm.allCases

    private func key(_ signer: ProviderSigner, _ more: (String, JSONValue)...) throws -> JSONValue {
        guard case .object(let members) = try signer.verificationKey.publicKey.numbers.webKey else { return .null }
        return .object(members + more.map { JSONMember(name: $0.0, value: $0.1) })
    }

    private func read(
        _ keys: JSONValue..., allowing algorithms: [SignatureAlgorithm] = all
    ) throws(TokenDefect) -> WebKeySet {
        try WebKeySet(Array(JSONValue.object(["keys": .array(keys)]).jsonText.utf8), allowing: algorithms)
    }

    @Test("hold what can verify ID tokens by the allowed algorithms, and leave out the rest")
    func members() throws {
        let (rsa, p256, ed25519) = try (ProviderSigner(.rs256), ProviderSigner(.es256), ProviderSigner(.edDSA))
        let set = try read(
            try key(rsa, ("kid", .string("plain"))),
            try key(rsa, ("kid", .string("pss")), ("alg", .string("PS256")), ("use", .string("sig"))),
            try key(p256, ("kid", .string("p256")), ("x5c", .array([])), ("unknown", .null)),
            try key(ed25519, ("kid", .string("ed"))),
            // None of these can verify anything here.
            try key(p256, ("kid", .string(""))), try key(p256, ("kid", .integer(1))),
            try key(p256, ("kid", .string("enc")), ("use", .string("enc"))),
            try key(p256, ("kid", .string("d")), ("d", .string("AA"))),
            try key(p256, ("kid", .string("rs")), ("alg", .string("RS256"))),
            try key(rsa, ("kid", .string("rs512")), ("alg", .string("RS512"))),
            .object(["kty": .string("oct"), "k": .string("AAAA"), "kid": .string("oct")]), .null, .string("x"))
        #expect(set.members.map(\.keyID) == ["plain", "pss", "p256", "ed"])
        #expect(set.members.map(\.key.algorithm) == [.rs256, .ps256, .es256, .edDSA])
        let strict = try read(
            try key(rsa, ("kid", .string("a"))), try key(p256, ("kid", .string("b"))), allowing: [.ps256])
        #expect(strict.members.map(\.key.algorithm) == [.ps256])
    }

    @Test("leave out keys that one kid, or none, does not tell apart, and elements that no reader understands")
    func ambiguous() throws {
        let (one, two, rsa) = try (ProviderSigner(.es256), ProviderSigner(.es256), ProviderSigner(.rs256))
        let name = ("kid", JSONValue.string("k"))
        #expect(try read(key(one, name), key(two, name), key(rsa, name)).members.map(\.key.algorithm) == [.rs256])
        #expect(try read(key(one, name), key(one, name), key(rsa, name)).members.count == 2)
        #expect(try read(key(one), key(rsa)).members.map(\.keyID) == [nil, nil])
        #expect(try read(key(one), key(two), key(rsa, name)).members.map(\.keyID) == ["k"])
        let ed25519 = try ProviderSigner(.edDSA)
        #expect(try read(key(ed25519, name, ("alg", .string("Ed25519")))).members.map(\.key.algorithm) == [.edDSA])
        let deep = String(repeating: "[", count: 20) + String(repeating: "]", count: 20)
        let good = try key(one, name).jsonText
        let text = #"{"keys":[{"kid":"x","a":\#(deep)},{"kid":"x","kid":"x"},\#(good),1],"more":\#(deep)}"#
        #expect(try WebKeySet(Array(text.utf8), allowing: Self.all).members.map(\.keyID) == ["k"])
    }

    @Test("are refused whole if they are no key sets, or have too many keys")
    func refused() throws {
        let many = try (0..<65).map { try key(ProviderSigner(.edDSA), ("kid", .string("\($0)"))) }
        for (count, isTaken) in [(64, true), (65, false)] {
            let text = JSONValue.object(["keys": .array(Array(many.prefix(count)))]).jsonText
            let set = try? WebKeySet(Array(text.utf8), allowing: Self.all)
            #expect((set != nil) == isTaken, "\(count)")
        }
        for text in ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#] {
            #expect(throws: TokenDefect.self, "\(text)") { try WebKeySet(Array(text.utf8), allowing: Self.all) }
        }
        #expect(try read().members.isEmpty)
    }
}
