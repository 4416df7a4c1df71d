import Domain
import Encoding
import Foundation

/// The conditions on an SD-JWT VC and its key binding, in the order of the checks.
package enum CredentialRules {}

package extension CredentialRules {
    /// A credential with what it is compared with.
    struct Input: Sendable {
        let credential: SelectiveDisclosure
        let requested: RequestedCredential
        let request: PresentationRequest
        /// The signer that ``SelectiveDisclosure/certificates`` prove, or why they prove none.
        let signer: Result<CredentialSigner, PresentationDefect>
        let status: StatusCheck
        let now: Date

        package init(
            credential: SelectiveDisclosure, requested: RequestedCredential, request: PresentationRequest,
            signer: Result<CredentialSigner, PresentationDefect>, status: StatusCheck, now: Date
        ) {
            self.credential = credential
            self.requested = requested
            self.request = request
            self.signer = signer
            self.status = status
            self.now = now
        }

        fileprivate var trusted: CredentialSigner? { try? signer.get() }
        fileprivate var claims: JSONValue? { try? credential.claims.get() }
    }

    /// The status is last, because a list may have to be fetched for it. A copy of a credential causes no fetch.
    static let all: [PresentationRule<Input>] = [
        type, issuer, issuerSignature, digests, validity, binding, bindingSignature, bindingContent, bindingAge,
        completeness, surplus, texts, place, documentExpiry, status,
    ]
}

extension CredentialRules {
    /// How far clocks may differ, seconds.
    static let clockSkew: TimeInterval = 60
    /// How old a key binding may be, and how far in the future, seconds.
    static let maximumBindingAge: TimeInterval = 300

    static let type = PresentationRule<Input>("credential type") { input in
        let token = input.credential.token
        guard token.header.type == "dc+sd-jwt" else {
            return PresentationDefect(.malformed, "The typ of the SD-JWT is not dc+sd-jwt.")
        }
        let type = token.payload["vct"]?.text
        return type.map { $0.hasSameBytes(as: input.requested.type) } ?? false
            ? nil : PresentationDefect(.notAsked, "The vct is not \(input.requested.type).")
    }

    static let issuer = PresentationRule<Input>("issuer's certificate") { input in
        switch input.signer {
        case .success: nil
        case .failure(let defect): defect
        }
    }

    static let issuerSignature = PresentationRule<Input>("issuer's signature") { input in
        guard let signer = input.trusted else { return nil }
        guard let key = try? VerificationKey(signer.key, algorithm: .es256),
            SelectiveDisclosure.isValid(input.credential.token, by: key)
        else {
            return PresentationDefect(
                .issuerSignature, "The issuer's signature does not verify by ES256 with the key of its certificate.")
        }
        return nil
    }

    static let digests = PresentationRule<Input>("digests") { input in
        if let algorithm = input.credential.token.payload["_sd_alg"], algorithm.text != "sha-256" {
            return PresentationDefect(.malformed, "The _sd_alg is not sha-256.")
        }
        switch input.credential.claims {
        case .success: return nil
        case .failure(let defect): return defect
        }
    }

    static let validity = PresentationRule<Input>("validity") { input in
        let payload = input.credential.token.payload
        guard let end = SelectiveDisclosure.time("exp", in: payload) else {
            return PresentationDefect(.malformed, "The credential has no exp, or it is not a time.")
        }
        for name in ["nbf", "iat"] where payload[name] != nil {
            guard let begin = SelectiveDisclosure.time(name, in: payload) else {
                return PresentationDefect(.malformed, "The credential's \(name) is not a time.")
            }
            guard begin <= input.now + clockSkew else {
                return PresentationDefect(.notYetValid, "The credential's \(name) is \(begin.rfc3339).")
            }
        }
        return end > input.now - clockSkew
            ? nil : PresentationDefect(.expired, "The credential expired at \(end.rfc3339).")
    }

    static let status = PresentationRule<Input>("status") { input in
        input.trusted.flatMap { input.status.defect(of: input.credential.status, by: $0) }
    }

    static let binding = PresentationRule<Input>("binding to the device") { input in
        guard input.credential.holderKey != nil else {
            return PresentationDefect(.unbound, "The issuer signed no key of a device on P-256 (cnf.jwk).")
        }
        return input.credential.keyBinding != nil
            ? nil : PresentationDefect(.unbound, "The SD-JWT has no key binding. It ends with a tilde.")
    }

    static let bindingSignature = PresentationRule<Input>("device's signature") { input in
        guard let binding = input.credential.keyBinding, let key = input.credential.holderKey else { return nil }
        guard binding.header.type == "kb+jwt" else {
            return PresentationDefect(.deviceSignature, "The typ of the key binding is not kb+jwt.")
        }
        return SelectiveDisclosure.isValid(binding, by: key)
            ? nil
            : PresentationDefect(
                .deviceSignature, "The key binding's signature does not verify by ES256 with the key in cnf.")
    }

    static let bindingContent = PresentationRule<Input>("key binding") { input in
        guard let binding = input.credential.keyBinding else { return nil }
        func has(_ name: String, _ expected: String?) -> Bool {
            guard let expected, let text = binding.payload[name]?.text else { return false }
            return text.hasSameBytes(as: expected)
        }
        guard has("sd_hash", input.credential.digest) else {
            return PresentationDefect(
                .deviceSignature, "The sd_hash of the key binding is not the digest of the credential and disclosures.")
        }
        guard has("nonce", input.request.nonce) else {
            return PresentationDefect(.replayed, "The nonce of the key binding is not the request's.")
        }
        return has("aud", input.request.channel.audience)
            ? nil : PresentationDefect(.replayed, "The aud of the key binding is not the sender of the request.")
    }

    static let bindingAge = PresentationRule<Input>("age of the key binding") { input in
        guard let binding = input.credential.keyBinding else { return nil }
        guard let issuedAt = SelectiveDisclosure.time("iat", in: binding.payload) else {
            return PresentationDefect(.malformed, "The key binding has no iat, or it is not a time.")
        }
        return issuedAt.timeIntervalSince(input.now).magnitude <= maximumBindingAge
            ? nil : PresentationDefect(.replayed, "The key binding was made at \(issuedAt.rfc3339).")
    }

    static let completeness = PresentationRule<Input>("requested claims") { input in
        guard let claims = input.claims else { return nil }
        let missing = input.requested.claims.filter { path in
            path.reduce(claims as JSONValue?) { $0?[$1] } == nil
        }
        let names = missing.map { $0.joined(separator: ".") }.joined(separator: ", ")
        return missing.isEmpty ? nil : PresentationDefect(.incomplete, "Requested claims are missing: \(names).")
    }

    static let surplus = PresentationRule<Input>("no other claims") { input in
        let others = input.credential.disclosed.filter { path in
            // A requested claim may be inside an object that is disclosed, or have parts that are.
            !input.requested.claims.contains { claim in
                let length = min(claim.count, path.count)
                return RequestedCredential.isSame(Array(claim.prefix(length)), Array(path.prefix(length)))
            }
        }
        return others.isEmpty
            ? nil
            : PresentationDefect(
                .surplus, "The wallet discloses more than was requested: \(others.count.counting("claim")).")
    }

    static let texts = PresentationRule<Input>("texts of the card") { input in
        for name in PresentedIdentity.texts {
            guard let value = input.claims?[name] else { continue }
            if let defect = PresentedIdentity.defect(of: value.text, in: name) { return defect }
        }
        return nil
    }

    static let place = PresentationRule<Input>("issuing country") { input in
        guard let signer = input.trusted, let country = input.claims?["issuing_country"] else { return nil }
        let isSame = country.text.flatMap { text in signer.country.map { text.hasSameBytes(as: $0) } } ?? false
        return isSame
            ? nil
            : PresentationDefect(
                .issuerCertificate, "The issuing_country is not the country in the signer's certificate.")
    }

    static let documentExpiry = PresentationRule<Input>("expiry of the document") { input in
        guard let claim = input.claims?["date_of_expiry"] else { return nil }
        guard let last = claim.text.flatMap({ CalendarDate($0) }) else {
            return PresentationDefect(.malformed, "The date_of_expiry is not a date.")
        }
        return last.endEverywhere > input.now
            ? nil : PresentationDefect(.documentExpired, "The document's date_of_expiry has passed.")
    }
}

/// An SD-JWT VC that passed all rules: its issuer is trusted, and the device to which it was issued presents it for this
/// request.
package struct PresentedCredential: Sendable, Confidential {
    /// The `vct`, such as `urn:eudi:pid:1`.
    let type: String
    /// The signer that the issuer certified.
    let signer: CredentialSigner
    private let claims: JSONValue

    /// Verifies a credential.
    ///
    /// - Throws: the first defect, in the order of ``CredentialRules/all``.
    package init(verifying input: CredentialRules.Input) throws(PresentationDefect) {
        try CredentialRules.all.require(input)
        signer = try input.signer.get()
        claims = try input.credential.claims.get()
        type = input.requested.type
    }

    /// The value of a claim; `nil` if it was not presented.
    subscript(_ path: [String]) -> JSONValue? {
        path.reduce(claims as JSONValue?) { $0?[$1] }
    }
}
