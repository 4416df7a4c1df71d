import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Tokens

@Suite("Compact JWS")
struct UnverifiedTokenTests {
    private func encode(_ text: String) -> String {
        Base64URL.encode(Array(text.utf8))
    }

    @Test("RFC 7515 §A.2: RS256 verifies, and not once bent")
    func rs256Vector() throws {
        try check(StandardVectors.rs256, key: StandardVectors.rs256Key, algorithm: .rs256)
    }

    @Test("RFC 7515 §A.3: ES256 verifies, and not once bent")
    func es256Vector() throws {
        try check(StandardVectors.es256, key: StandardVectors.es256Key, algorithm: .es256)
    }

    private func check(_ compact: String, key: String, algorithm: SignatureAlgorithm) throws {
        let token = try UnverifiedToken(compact)
        let key = try VerificationKey(text: key)
        #expect(key.algorithm == algorithm)
        #expect(token.header.algorithm == algorithm.rawValue)
        #expect(token.payload["iss"] == .string("joe"))
        #expect(token.payload["exp"] == .integer(1_300_819_380))
        #expect(token.payload["http://example.com/is_root"] == .bool(true))
        #expect(
            String(decoding: token.signingInput, as: UTF8.self) == String(compact.prefix { $0 != "." }) + "."
                + StandardVectors.claims)
        #expect(key.isValid(signature: token.signature, over: token.signingInput))
        var bent = token.signature
        bent[7] ^= 1
        #expect(!key.isValid(signature: bent, over: token.signingInput))
        #expect(!key.isValid(signature: token.signature, over: token.signingInput.dropLast()))
    }

    @Test("RFC 8037 §A.4: Ed25519 verifies; its payload is no JSON, hence no token")
    func edDSAVector() throws {
        let key = try VerificationKey(text: StandardVectors.edDSAKey)
        let signature = try #require(Base64URL.decode(StandardVectors.edDSASignature))
        #expect(key.isValid(signature: signature, over: Array(StandardVectors.edDSAInput.utf8)))
        #expect(throws: refusal(.malformed)) {
            try UnverifiedToken(StandardVectors.edDSAInput + "." + StandardVectors.edDSASignature)
        }
    }

    @Test("RFC 7515 §A.1 and §A.5: symmetric and unsecured tokens are read, and no key verifies them")
    func unsuitable() throws {
        let bench = try RegisteredProvider(.es256)
        for compact in [StandardVectors.hs256, StandardVectors.unsecured] {
            let token = try UnverifiedToken(compact)
            #expect(!bench.key.verificationKey.isValid(signature: token.signature, over: token.signingInput))
            #expect(throws: refusal(.wrongType)) {
                try bench.verifier.verify(
                    token, provider: bench.provider, key: bench.key, now: RegisteredProvider.now)
            }
        }
    }

    @Test("Header, payload and names come out as they are written, spaces in cty apart")
    func reads() throws {
        let id = UUID()
        let header = #"{"typ":"JWT","cty":"layer-eit; v=1","alg":"ES256","kid":"\#(id)"}"#
        let token = try UnverifiedToken("\(encode(header)).\(encode(#"{"iss":"\#(id)"}"#)).AAAA")
        #expect(token.header.type == "jwt")
        #expect(token.header.contentType == "layer-eit;v=1")
        #expect(token.header.algorithm == "ES256")
        #expect(token.keyID == ProviderKeyID(id))
        #expect(token.issuer == ProviderID(id))
        #expect(token.signature == [0, 0, 0])
        let other = try UnverifiedToken("\(encode(#"{"alg":"ES256","kid":"k"}"#)).\(encode(#"{"iss":7}"#)).")
        #expect(other.keyID == nil)
        #expect(other.issuer == nil)
    }

    @Test("What is no compact JWS of two strict JSON objects is malformed")
    func malformed() throws {
        let (header, payload) = (encode(#"{"alg":"ES256"}"#), encode("{}"))
        let parts = [
            "", ".", "..", "...", header, "\(header).\(payload)", "\(header).\(payload).AA.AA",
            "\(header).\(payload).AA.AA.AA", "\(header).\(payload).AA.AA.AA.AA",
            "\(header)=.\(payload).AAAA", "\(header).\(payload)==.AAAA", "\(header).\(payload).AA==",
            "\(header).\(payload).AB", "\(header).\(payload).A", "\(header).\(payload).AA+A",
            "\(header).\(payload).AA/A",
            " \(header).\(payload).AAAA", "\(header).\(payload).AAAA\n", "\(header).\(payload).AAAA ",
            "\(header).\(payload).ÄÄÄÄ", "\(header)..AAAA", ".\(payload).AAAA",
            "\(header).\(encode("[]")).AAAA", "\(header).\(encode("{} {}")).AAAA",
            "\(header).\(encode("{\"a\":1,}")).AAAA",
            "\(header).\(encode(#"{"a":1,"a":1}"#)).AAAA", "\(header).\(encode(#"{"a":1,"\u0061":2}"#)).AAAA",
            "\(encode(#"{"alg":"ES256","alg":"none"}"#)).\(payload).AAAA", "\(encode("{}")).\(payload).AAAA",
            "\(encode(#"{"alg":256}"#)).\(payload).AAAA", "\(encode(#"{"alg":"ES256","kid":1}"#)).\(payload).AAAA",
            "\(encode(#"{"alg":"ES256","typ":null}"#)).\(payload).AAAA",
            "\(encode(#"{"alg":"ES256","cty":[]}"#)).\(payload).AAAA",
            "\(header).\(encode(String(repeating: "[", count: 40))).AAAA",
            "\(header).\(encode(#"{"a":"\#(String(repeating: "a", count: 7000))"}"#)).AAAA",
        ]
        for part in parts {
            #expect(throws: refusal(.malformed), "\(part.prefix(80))") { try UnverifiedToken(part) }
        }
    }

    @Test("A token may be as long as the limit and not a byte longer")
    func limit() throws {
        let start = "\(encode(#"{"alg":"ES256"}"#)).\(encode("{}"))."
        let room = UnverifiedToken.maximumLength - start.utf8.count
        let rest = room - (room % 4 == 1 ? 1 : 0)
        _ = try UnverifiedToken(start + String(repeating: "A", count: rest))
        #expect(throws: refusal(.malformed)) { try UnverifiedToken(start + String(repeating: "A", count: room + 3)) }
    }

    @Test(
        "A header that changes how a token is read, or brings its own key, is not supported",
        arguments: ["crit", "b64", "zip", "jwk"])
    func unsupportedHeader(name: String) throws {
        let header = #"{"alg":"ES256","\#(name)":["exp"]}"#
        #expect(throws: refusal(.unsupportedHeader)) { try UnverifiedToken("\(encode(header)).\(encode("{}")).AAAA") }
    }

    @Test("What a token says of certificates and places of keys is ignored, as any unknown parameter is")
    func ignoredHeader() throws {
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let header = #"{"alg":"ES256","jku":"https://evil.example","x5u":1,"x5c":["AA"],"x5t":null,"more":\#(deep)}"#
        #expect(try UnverifiedToken("\(encode(header)).\(encode("{}")).AAAA").header.algorithm == "ES256")
    }

    @Test("A media type is compared without its case and without the prefix application/, and alg by either name")
    func names() throws {
        for (written, read) in [
            ("JWT", "jwt"), ("application/jwt", "jwt"), ("Application/DPoP+JWT", "dpop+jwt"),
            ("application/a/b", "application/a/b"), ("application/", ""), ("layer-eit; v=1", "layer-eit;v=1"),
        ] {
            let token = try UnverifiedToken(
                "\(encode(#"{"alg":"Ed25519","typ":"\#(written)","cty":"\#(written)"}"#)).\(encode("{}")).AAAA")
            #expect(token.header.contentType == read && token.header.algorithm == "EdDSA")
            #expect(token.header.type?.filter { $0 != " " } == read)
        }
        #expect(SignatureAlgorithm(rawValue: "Ed25519") == .edDSA && SignatureAlgorithm(rawValue: "ed25519") == nil)
    }

    @Test("Claims that nobody reads are skipped, however deep, long or odd, up to 32 KiB in an identity token")
    func skipped() throws {
        let groups = (0..<157).map { "\"\(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8($0))))\"" }
        let deep = String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
        for odd in [
            "[\(groups.joined(separator: ","))]", "[\((0..<257).map(String.init).joined(separator: ","))]", deep,
            String(repeating: "9", count: 40), #"{"a":1,"a":[{},"]}\\\""]}"#,
            #"{"a":{"b":{}},"c":[[],[1,{"d":null}]]}"#,
        ] {
            let payload = #"{"odd":\#(odd),"sub":"anna"}"#
            let token = try UnverifiedToken(
                "\(encode(#"{"alg":"ES256"}"#)).\(encode(payload)).AAAA", upTo: UnverifiedToken.maximumIdentityLength)
            #expect(token.payload["sub"] == .string("anna") && token.payload["missing"] == nil)
        }
        // What is read is as strict as ever: it is of no type that a reader expects.
        let strict = try UnverifiedToken("\(encode(#"{"alg":"ES256"}"#)).\(encode(#"{"sub":{"a":1,"a":2}}"#)).AAAA")
        #expect(strict.payload["sub"]?.text == nil && strict.payload["sub"] != nil)
        for broken in [
            "[", "[1,]", "[1 2]", "[}", "{\"a\"}", "{\"a\":}", "{1:2}", "01", "1.", "tru", "\"a", "\"\n\"", "[1]]", "",
            "{,}",
        ] {
            #expect(throws: refusal(.malformed), "\(broken)") {
                try UnverifiedToken("\(encode(#"{"alg":"ES256"}"#)).\(encode(#"{"odd":\#(broken)}"#)).AAAA")
            }
        }
    }

    @Test("The refusal carries the code of what the token was shown for")
    func codes() {
        #expect(throws: Refusal(.providerTokenInvalid, "")) { try UnverifiedToken("", refusing: .providerTokenInvalid) }
        #expect(throws: Refusal(.invalidCSR, "", reason: .malformed)) {
            try UnverifiedToken("", refusing: .invalidCSR)
        }
    }
}
