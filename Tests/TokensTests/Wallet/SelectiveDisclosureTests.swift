import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Tokens

@Suite("An SD-JWT VC")
struct SelectiveDisclosureTests {
    private let issuer: WalletIssuer

    init() throws {
        issuer = try WalletIssuer()
    }

    private func verify(
        _ text: String, _ request: PresentationRequest, now: Date?
    ) throws(PresentationDefect) -> PresentedCredential {
        let signer: CredentialSigner
        do { signer = try issuer.signer() } catch { throw PresentationDefect(.malformed, "The fixture has no key.") }
        return try PresentedCredential(
            verifying: CredentialRules.Input(
                credential: SelectiveDisclosure(text), requested: request.credentials[0], request: request,
                signer: .success(signer), status: StatusCheck(.ifPresent) { _, _ in .revoked }, now: now ?? issuer.now))
    }

    private func refusal(
        of text: String, for request: PresentationRequest = CredentialMint.request(), now: Date? = nil
    ) -> PresentationDefect.Reason? {
        do throws(PresentationDefect) { _ = try verify(text, request, now: now) } catch { return error.reason }
        return nil
    }

    /// The reason of the refusal of a credential with a fault.
    private func refusal(
        for request: PresentationRequest = CredentialMint.request(), now: Date? = nil,
        _ change: (inout CredentialMint) -> Void
    ) throws -> PresentationDefect.Reason? {
        var mint = CredentialMint(issuer)
        change(&mint)
        return refusal(of: try mint.presentation(for: request), for: request, now: now)
    }

    @Test("is accepted with the claims that were requested, by both channels")
    func accepted() throws {
        for channel in [
            PresentationRequest.Channel.digitalCredentials(origin: "https://app.example"),
            .redirect(clientID: "x509_hash:abc", responseURI: "https://id.example/wallet/responses/1"),
        ] {
            let request = CredentialMint.request(channel)
            let credential = try verify(CredentialMint(issuer).presentation(for: request), request, now: nil)
            #expect(credential.type == CredentialMint.type)
            #expect(credential[["family_name"]] == .string("SAMPLE") && credential[["birthdate"]] == nil)
            #expect(credential[["_sd"]] == nil && credential[["_sd_alg"]] == nil)
        }
    }

    @Test("is refused without a key binding, whatever the nonce")
    func unbound() throws {
        #expect(try refusal { $0.hasBinding = false } == .unbound)
        #expect(try refusal(for: CredentialMint.request(nonce: "")) { $0.hasBinding = false } == .unbound)
        #expect(try refusal { $0.payload = [JSONMember("cnf", .null)] } == .unbound)
        #expect(try refusal { $0.payload = [JSONMember("cnf", .object(["kid": .string("1")]))] } == .unbound)
        // The status may be looked up for an answer of the device alone.
        let status = JSONMember(
            "status", .object(["status_list": .object(["idx": .integer(0), "uri": .string("https://x")])]))
        #expect(try refusal { ($0.payload, $0.hasBinding) = ([status], false) } == .unbound)
        #expect(try refusal(now: issuer.now + 301) { $0.payload = [status] } == .replayed)
        let other = P256.Signing.PrivateKey()
        #expect(try refusal { $0.presentingKey = other } == .deviceSignature)
        #expect(try refusal { $0.bindingHeader = [JSONMember("typ", .string("JWT"))] } == .deviceSignature)
        #expect(try refusal { $0.bindingHeader = [JSONMember("alg", .string("none"))] } == .deviceSignature)
    }

    @Test("is bound to nonce, audience and time of the request")
    func binding() throws {
        let redirect = CredentialMint.request(.redirect(clientID: "x509_hash:abc", responseURI: "https://id.example/1"))
        #expect(refusal(of: try CredentialMint(issuer).presentation(for: redirect)) == .replayed)
        #expect(refusal(of: try CredentialMint(issuer).presentation(), for: redirect) == .replayed)
        for (name, value, reason) in [
            ("nonce", JSONValue.string("n-2"), PresentationDefect.Reason.replayed), ("nonce", .null, .replayed),
            // Without the prefix it is the web's origin, which is no audience.
            ("aud", .string("https://app.example"), .replayed), ("aud", .array([.string("origin:x")]), .replayed),
            ("iat", .integer(Int64(issuer.now.timeIntervalSince1970) - 301), .replayed),
            ("iat", .integer(Int64(issuer.now.timeIntervalSince1970) + 301), .replayed), ("iat", .null, .malformed),
            ("sd_hash", .null, .deviceSignature),
        ] {
            #expect(try refusal { $0.binding = [JSONMember(name, value)] } == reason, "\(name)")
        }
        let late = JSONValue.integer(Int64(issuer.now.timeIntervalSince1970) - 299)
        #expect(try refusal { $0.binding = [JSONMember("iat", late)] } == nil)
    }

    @Test("is bound to its disclosures, up to and with the last tilde")
    func digestOfPresentation() throws {
        #expect(try refusal { $0.coversLastTilde = false } == .deviceSignature)
        #expect(try refusal { $0.changeAfterBinding = { $0 = [] } } == .deviceSignature)
        let text = try CredentialMint(issuer).presentation()
        #expect(refusal(of: text) == nil)
        // The JSON form (RFC 9901 §8) has no tilde.
        #expect(refusal(of: #"{"payload":"","signatures":[]}"#) == .malformed)
        #expect(refusal(of: "") == .malformed)
        #expect(refusal(of: text + "~") != nil)
    }

    @Test("has no disclosure whose digest is not signed once")
    func disclosures() throws {
        let forged = CredentialMint.disclosure("age_over_18", .bool(true))
        let (array, named) = (Base64URL.encode(Array(#"["salt","x"]"#.utf8)), CredentialMint.disclosure("_sd", .null))
        #expect(try refusal { $0.changeDisclosures = { $0.append(forged) } } == .digest)
        #expect(try refusal { $0.changeDisclosures = { $0 += $0 } } == .digest)
        #expect(try refusal { $0.changeDisclosures = { $0.append(array) } } == .digest)
        for wrong in [[named], ["x"], ["W10"], Array(repeating: forged, count: 65)] {
            #expect(try refusal { $0.changeDisclosures = { $0 += wrong } } == .malformed)
        }
        #expect(try refusal { $0.payload = [JSONMember("_sd_alg", .string("sha-512"))] } == .malformed)
        // A claim that is disclosed and is in the payload, too.
        #expect(try refusal { $0.payload = [JSONMember("family_name", .string("OTHER"))] } == .malformed)
        let digest = JSONValue.string(Digest256.of(forged).base64URL)
        #expect(try refusal { $0.payload = [JSONMember("_sd", .array([digest, digest]))] } == .digest)
    }

    @Test("has claims inside disclosed objects and elements of arrays")
    func nested() throws {
        let city = CredentialMint.disclosure("locality", .string("RICHMOND"))
        let element = Base64URL.encode(Array(#"["salt","US"]"#.utf8))
        let claims: [(name: String, value: JSONValue)] = [
            ("address", .object(["_sd": .array([.string(Digest256.of(city).base64URL)])])),
            (
                "nationalities",
                .array([
                    .object(["...": .string(Digest256.of(element).base64URL)]), .object(["...": .string("decoy")]),
                ])
            ),
        ]
        let request = CredentialMint.request(claims: [["address", "locality"], ["nationalities"]])
        var mint = CredentialMint(issuer)
        mint.claims = claims
        mint.disclosed = ["address", "nationalities"]
        mint.changeDisclosures = { $0 += [city, element] }
        let credential = try verify(mint.presentation(for: request), request, now: nil)
        #expect(credential[["address", "locality"]] == .string("RICHMOND"))
        #expect(credential[["nationalities"]] == .array([.string("US")]))
        mint.changeDisclosures = { $0 += [element] }
        #expect(refusal(of: try mint.presentation(for: request), for: request) == .incomplete)
        let other = CredentialMint.request(claims: [["address", "region"], ["nationalities"]])
        mint.changeDisclosures = { $0 += [city, element] }
        #expect(refusal(of: try mint.presentation(for: other), for: other) == .incomplete)
    }

    @Test("is of the requested type, and has what was requested and nothing else")
    func query() throws {
        #expect(try refusal { $0.payload = [JSONMember("vct", .string("urn:eudi:pid:2"))] } == .notAsked)
        #expect(try refusal { $0.payload = [JSONMember("vct", .null)] } == .notAsked)
        for type in ["JWT", "vc+sd-jwt", "kb+jwt"] {
            #expect(try refusal { $0.header = [JSONMember("typ", .string(type))] } == .malformed)
        }
        #expect(try refusal { $0.disclosed = [] } == .incomplete)
        #expect(try refusal { $0.disclosed = ["family_name", "birthdate"] } == .surplus)
    }

    @Test("has no text that others see with what cannot be seen, of another type, or too long")
    func texts() throws {
        let claims = ["family_name", "given_name", "birthdate", "date_of_expiry", "issuing_country", "document_number"]
        let request = CredentialMint.request(claims: claims.map { [$0] })
        func reason(_ name: String, _ value: JSONValue) throws -> PresentationDefect.Reason? {
            var mint = CredentialMint.person("SAMPLE", issuer)
            mint.claims = mint.claims.map { $0.name.hasSameBytes(as: name) ? (name: name, value: value) : $0 }
            return refusal(of: try mint.presentation(for: request), for: request)
        }
        #expect(Set(PresentedIdentity.texts).isSubset(of: claims))
        for name in PresentedIdentity.texts {
            for text in CredentialNames.refused { #expect(try reason(name, .string(text)) == .malformed, "\(text)") }
            for text in CredentialNames.honest { #expect(try reason(name, .string(text)) == nil, "\(text)") }
            for value in [JSONValue.object(["a": .string("b")]), .array([.string("b")]), .integer(1), .null] {
                #expect(try reason(name, value) == .malformed)
            }
        }
        #expect(try reason("date_of_expiry", .object(["a": .string("2044-01-31")])) == .malformed)
        // A holder with one name.
        let mint = CredentialMint.person("", issuer)
        let identity = try verify(mint.presentation(for: request), request, now: nil).identity
        #expect(identity.familyName == nil && identity.givenName == "ALICE")
    }

    @Test("is signed by the issuer with ES256, and is valid now")
    func issuance() throws {
        let seconds = Int64(issuer.now.timeIntervalSince1970)
        for (name, value, reason) in [
            ("exp", JSONValue.null, PresentationDefect.Reason.malformed), ("exp", .string("1"), .malformed),
            ("exp", .integer(seconds - 61), .expired), ("nbf", .integer(seconds + 61), .notYetValid),
            ("iat", .integer(seconds + 61), .notYetValid), ("iat", .string("1"), .malformed),
            ("status", .object(["status_list": .object(["idx": .integer(0), "uri": .string("https://x")])]), .revoked),
            ("status", .object(["status_list": .object(["idx": .integer(-1), "uri": .string("u")])]), .statusUnknown),
            ("issuing_country", .string("CA"), .issuerCertificate),
            ("date_of_expiry", .string("2027-01-13"), .documentExpired),
            ("date_of_expiry", .string("13.1.2027"), .malformed),
        ] {
            #expect(try refusal { $0.payload = [JSONMember(name, value)] } == reason, "\(name)")
        }
        #expect(try refusal { $0.payload = [JSONMember("exp", .integer(seconds - 59))] } == nil)
        #expect(try refusal { $0.header = [JSONMember("alg", .string("none"))] } == .issuerSignature)
        #expect(try refusal { $0.header = [JSONMember("alg", .string("ES384"))] } == .issuerSignature)
        #expect(try refusal { $0.header = [JSONMember("crit", .array([]))] } == .malformed)
        let other = try CredentialMint(WalletIssuer()).presentation()
        #expect(refusal(of: other) == .issuerSignature)
    }

    @Test("is never accepted with a bit changed", arguments: Soak.seeds(2, soak: 100))
    func flips(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let text = Array(try CredentialMint(issuer).presentation().utf8)
        var accepted: [Int] = []
        for _ in 0..<1_000 {
            var bytes = text
            let place = Int.random(in: text.indices, using: &random)
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            if refusal(of: String(decoding: bytes, as: UTF8.self)) == nil { accepted.append(place) }
        }
        #expect(accepted.isEmpty)
    }
}
