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
        let proof: Service.AttestationEvidence.Proof
        switch kind {
        case .appAttest: proof = try members.appAttest()
        case .androidKey: proof = .androidKey(try members.chain())
        }
        try members.rejectUnknown()
        return Service.AttestationEvidence(challenge: challenge, proof)
    }

    private mutating func appAttest() throws(Refusal) -> Service.AttestationEvidence.Proof {
        let keyID = try Self.base64(try string("key_id"), "key_id")
        switch (try optionalString("object"), try optionalString("assertion")) {
        case (let object?, nil): return .appAttest(keyID: keyID, object: try Self.base64(object, "object"))
        case (nil, let assertion?):
            return .assertion(keyID: keyID, assertion: try Self.base64(assertion, "assertion"))
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
