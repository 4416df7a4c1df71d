import Domain
import Encoding
import Fixtures
import Foundation
import PhoneNumbers
import Testing

@testable import Tokens

@Suite("A proof that a person is present")
struct PresenceProofTests {
    private let signer: ProviderSigner
    private let number: PhoneNumber
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    init() throws {
        signer = try ProviderSigner(.es256)
        number = try PhoneNumber(reading: "+14155552671")
    }

    private func draft() -> TokenDraft {
        var draft = TokenDraft(contentType: "layer-presence;v=1", algorithm: .es256, kid: nil)
        draft[claim: "nce"] = .string("a nonce")
        draft[claim: "iat"] = .integer(Int64(now.timeIntervalSince1970))
        draft[claim: "method"] = .string("touch_id")
        draft[claim: "phone_sha256"] = .string(Digest256.of("+14155552671").base64URL)
        return draft
    }

    private func proof(
        signer other: ProviderSigner? = nil, _ edit: (inout TokenDraft) -> Void = { _ in }
    ) throws -> PresenceProof {
        var draft = draft()
        edit(&draft)
        return try PresenceProof(
            try (other ?? signer).sign(draft), for: number, key: try signer.verificationKey, now: now)
    }

    @Test("is believed as the device's key made it")
    func good() throws {
        let proof = try proof()
        #expect(proof.nonce == "a nonce")
        #expect(proof.method == "touch_id")
        #expect(proof.issuedAt == now)
        _ = try self.proof { $0[header: "typ"] = nil }
        _ = try self.proof { $0[claim: "iat"] = .integer(Int64(now.timeIntervalSince1970) - 300) }
    }

    @Test("is refused, with its reason, where anything is bent")
    func refusals() throws {
        let seconds = Int64(now.timeIntervalSince1970)
        let edits: [(Refusal.Reason, (inout TokenDraft) -> Void)] = [
            (.wrongType, { $0[header: "cty"] = .string("layer-eit;v=1") }),
            (.wrongType, { $0[header: "cty"] = nil }),
            (.wrongType, { $0[header: "typ"] = .string("JWE") }),
            (.algorithmMismatch, { $0[header: "alg"] = .string("none") }),
            (.algorithmMismatch, { $0[header: "alg"] = .string("ES384") }),
            (.unsupportedHeader, { $0[header: "jwk"] = .object([]) }),
            (.missingClaim, { $0[claim: "nce"] = nil }),
            (.missingClaim, { $0[claim: "iat"] = nil }),
            (.missingClaim, { $0[claim: "method"] = nil }),
            (.missingClaim, { $0[claim: "phone_sha256"] = nil }),
            (.malformed, { $0[claim: "phone_sha256"] = .string(Digest256.of("+14155552672").base64URL) }),
            (.malformed, { $0[claim: "phone_sha256"] = .string("AA") }),
            (.malformed, { $0[claim: "iat"] = .string("now") }),
            (.malformed, { $0[claim: "method"] = .string("") }),
            (.notYetValid, { $0[claim: "iat"] = .integer(seconds + 61) }),
            (.expired, { $0[claim: "iat"] = .integer(seconds - 361) }),
        ]
        for (reason, edit) in edits {
            #expect(throws: Refusal(.invalidPresenceProof, "", reason: reason)) { try proof(edit) }
        }
        #expect(throws: Refusal(.invalidPresenceProof, "", reason: .badSignature)) {
            try proof(signer: try ProviderSigner(.es256))
        }
        let compact = try signer.sign(draft())
        #expect(throws: Refusal(.invalidPresenceProof, "", reason: .unknownKey)) {
            try PresenceProof(compact, for: number, key: nil, now: now)
        }
        #expect(throws: Refusal(.invalidPresenceProof, "", reason: .malformed)) {
            try PresenceProof("a.b", for: number, key: try signer.verificationKey, now: now)
        }
    }
}
