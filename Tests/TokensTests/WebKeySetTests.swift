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
            try key(p256), try key(p256, ("kid", .string(""))), try key(p256, ("kid", .integer(1))),
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

    @Test("are refused whole where one kid names two keys of one algorithm, or there are too many")
    func refused() throws {
        let (one, two, rsa) = try (ProviderSigner(.es256), ProviderSigner(.es256), ProviderSigner(.rs256))
        let name = ("kid", JSONValue.string("k"))
        #expect(throws: TokenDefect.self) { try read(key(one, name), key(two, name)) }
        #expect(try read(key(one, name), key(one, name), key(rsa, name)).members.count == 2)
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
