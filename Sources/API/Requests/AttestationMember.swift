import Domain
import Encoding
import Operations

extension JSONBodyDecoder {
    /// The member `attestation`: its kind, its challenge and the proof of that kind.
    mutating func optionalAttestation() throws(Refusal) -> Service.AttestationEvidence? {
        guard var members = try optionalObject("attestation") else { return nil }
        guard let kind = DeviceAttestation.Kind(rawValue: try members.string("kind")) else {
            throw Refusal.memberMustBeOneOf(DeviceAttestation.Kind.self, "attestation.kind")
        }
        let challenge = try members.string("challenge")
        let evidence: Service.AttestationEvidence
        switch kind {
        case .appAttest: evidence = try members.appAttest(challenge)
        case .androidKey: evidence = .androidKey(challenge: challenge, chain: try members.chain())
        }
        try members.rejectUnknown()
        return evidence
    }

    private mutating func appAttest(_ challenge: String) throws(Refusal) -> Service.AttestationEvidence {
        let keyID = try Self.base64(try string("key_id"), "key_id")
        switch (try optionalString("object"), try optionalString("assertion")) {
        case (let object?, nil):
            return .appAttest(challenge: challenge, keyID: keyID, object: try Self.base64(object, "object"))
        case (nil, let assertion?):
            return .assertion(
                challenge: challenge, keyID: keyID, assertion: try Self.base64(assertion, "assertion"))
        default: throw Refusal.oneMemberOf(["attestation.object", "attestation.assertion"])
        }
    }

    private mutating func chain() throws(Refusal) -> [[UInt8]] {
        guard case .array(let values) = try value("chain") else {
            throw Refusal.memberMustBe("a list", "attestation.chain")
        }
        return try values.map { value throws(Refusal) in try Self.base64(value.text ?? "", "chain") }
    }

    private static func base64(_ text: String, _ name: String) throws(Refusal) -> [UInt8] {
        guard let bytes = Base64URL.decodeEitherAlphabet(text.utf8), !bytes.isEmpty else {
            throw Refusal.memberMustBe("base64", "attestation.\(name)")
        }
        return bytes
    }
}
