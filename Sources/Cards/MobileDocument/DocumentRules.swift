import Domain
import Encoding
import Foundation

/// The conditions on a mobile document, in the order of the checks.
package enum DocumentRules {}

package extension DocumentRules {
    /// A document with what it is compared with.
    struct Input: Sendable {
        let document: MobileDocument
        let requested: RequestedCredential
        /// The signer that ``MobileDocument/certificates`` prove, or why they prove none.
        let signer: Result<CredentialSigner, PresentationDefect>
        let transcript: SessionTranscript
        let status: StatusCheck
        let now: Date

        package init(
            document: MobileDocument, requested: RequestedCredential,
            signer: Result<CredentialSigner, PresentationDefect>, transcript: SessionTranscript, status: StatusCheck,
            now: Date
        ) {
            self.document = document
            self.requested = requested
            self.signer = signer
            self.transcript = transcript
            self.status = status
            self.now = now
        }

        fileprivate var trusted: CredentialSigner? { try? signer.get() }
    }

    /// The status is last, because a list may have to be fetched for it. A copy of a document causes no fetch.
    static let all: [PresentationRule<Input>] = [
        type, issuer, issuerSignature, digests, signingTime, validity, binding, deviceSignature, completeness, surplus,
        texts, place, documentExpiry, status,
    ]
}

extension DocumentRules {
    /// How far clocks may differ, seconds.
    static let clockSkew: TimeInterval = 60

    static let type = PresentationRule<Input>("document type") { input in
        guard input.document.type.utf8.elementsEqual(input.requested.type.utf8) else {
            return PresentationDefect(.notAsked, "The document type is not \(input.requested.type).")
        }
        return input.document.security.type.utf8.elementsEqual(input.document.type.utf8)
            ? nil : PresentationDefect(.malformed, "The issuer signed another docType than that of the document.")
    }

    static let issuer = PresentationRule<Input>("issuer's certificate") { input in
        switch input.signer {
        case .success: nil
        case .failure(let defect): defect
        }
    }

    static let issuerSignature = PresentationRule<Input>("issuer's signature") { input in
        guard let signer = input.trusted,
            !input.document.issuerSignature.isValid(by: signer.key, over: input.document.payload)
        else { return nil }
        return PresentationDefect(
            .issuerSignature, "The issuer's signature does not verify with the key of its certificate.")
    }

    static let digests = PresentationRule<Input>("digests") { input in
        input.document.items.allSatisfy(input.document.security.covers)
            ? nil : PresentationDefect(.digest, "The digest of an element is not among those that the issuer signed.")
    }

    static let signingTime = PresentationRule<Input>("time of signing") { input in
        guard let signer = input.trusted else { return nil }
        let signedAt = input.document.security.signedAt
        return signedAt >= signer.notBefore && signedAt <= signer.notAfter
            ? nil
            : PresentationDefect(
                .issuerCertificate, "The document was signed outside the validity period of the signer's certificate.")
    }

    static let validity = PresentationRule<Input>("validity") { input in
        let security = input.document.security
        if security.validFrom > input.now + clockSkew {
            return PresentationDefect(.notYetValid, "The document is valid from \(security.validFrom.rfc3339) on.")
        }
        return security.validUntil >= input.now - clockSkew
            ? nil : PresentationDefect(.expired, "The document was valid until \(security.validUntil.rfc3339).")
    }

    static let status = PresentationRule<Input>("status") { input in
        input.trusted.flatMap { input.status.defect(of: input.document.security.status, by: $0) }
    }

    static let binding = PresentationRule<Input>("binding to the device") { input in
        input.document.deviceSignature != nil
            ? nil : PresentationDefect(.unbound, "The document has no deviceSignature. A deviceMac is not supported.")
    }

    static let deviceSignature = PresentationRule<Input>("device's signature") { input in
        guard let signature = input.document.deviceSignature else { return nil }
        guard signature.payload == nil else {
            return PresentationDefect(
                .malformed, "The payload of the deviceSignature is not detached. It must be null.")
        }
        let signed = input.transcript.deviceAuthentication(
            type: input.document.type, nameSpaces: input.document.deviceNameSpaces)
        guard !signature.isValid(by: input.document.security.deviceKey, over: signed) else { return nil }
        return PresentationDefect(
            .deviceSignature,
            "The device's signature does not verify for this request: compare origin or client, nonce and key.")
    }

    static let completeness = PresentationRule<Input>("requested elements") { input in
        let missing = input.requested.claims.filter { path in
            // A statement about another age may decide a requested one.
            if let age = path.last.flatMap(AgeStatement.age) { return input.document.isAtLeast(age) == nil }
            return !input.document.items.contains { RequestedCredential.isSame($0.path, path) }
        }
        let names = missing.compactMap(\.last).joined(separator: ", ")
        return missing.isEmpty ? nil : PresentationDefect(.incomplete, "Requested elements are missing: \(names).")
    }

    static let surplus = PresentationRule<Input>("no other elements") { input in
        guard !input.document.hasDeviceElements else {
            return PresentationDefect(.surplus, "The device adds elements of its own, which no issuer signed.")
        }
        let asksAge = Set(
            input.requested.claims.filter { $0.last.flatMap(AgeStatement.age) != nil }.compactMap(\.first))
        let others = input.document.items.filter { item in
            !input.requested.contains(item.path)
                && !(AgeStatement.age(of: item.element) != nil && asksAge.contains(item.nameSpace))
        }
        guard others.isEmpty else {
            return PresentationDefect(
                .surplus, "The wallet presents more than was requested: \(others.count.counting("element")).")
        }
        return input.document.ages.count <= AgeStatement.maximumCount
            ? nil
            : PresentationDefect(
                .surplus, "The wallet presents more than \(AgeStatement.maximumCount) statements about the age.")
    }

    static let texts = PresentationRule<Input>("texts of the card") { input in
        for item in input.document.items where PresentedIdentity.texts.contains(where: item.element.hasSameBytes) {
            if let defect = PresentedIdentity.defect(of: item.value.text, in: item.element) { return defect }
        }
        return nil
    }

    static let place = PresentationRule<Input>("issuing place") { input in
        guard let signer = input.trusted else { return nil }
        let country = input.document.text("issuing_country")
        let jurisdiction = input.document.text("issuing_jurisdiction")
        guard country.map({ isSame($0, signer.country) }) ?? true else {
            return PresentationDefect(
                .issuerCertificate, "The issuing_country is not the country in the signer's certificate.")
        }
        return jurisdiction.map { isSame($0, signer.jurisdiction) } ?? true
            ? nil
            : PresentationDefect(
                .issuerCertificate, "The issuing_jurisdiction is not the state in the signer's certificate.")
    }

    static let documentExpiry = PresentationRule<Input>("expiry of the document") { input in
        guard let last = input.document.date("expiry_date"), last.endEverywhere <= input.now else { return nil }
        return PresentationDefect(.documentExpired, "The document's expiry_date has passed.")
    }

    private static func isSame(_ text: String, _ other: String?) -> Bool {
        other.map { text.utf8.elementsEqual($0.utf8) } ?? false
    }
}

extension MobileDocument {
    /// The values of an element, in whichever name space.
    private func values(_ element: String) -> [CBORValue] {
        items.filter { $0.element.utf8.elementsEqual(element.utf8) }.map(\.value)
    }

    /// The text of an element; empty if it is something else, so that it equals nothing.
    func text(_ element: String) -> String? { values(element).first.map { $0.text ?? "" } }

    /// A date (`full-date`, RFC 8943, with tag 1004) or the day of a time with tag 0.
    func date(_ element: String) -> CalendarDate? {
        guard case .tagged(let tag)? = values(element).first, let text = tag.value.text else { return nil }
        switch tag.number {
        case 1004: return CalendarDate(text)
        case 0: return Date(rfc3339: text).map { CalendarDate(utcDayOf: $0) }
        default: return nil
        }
    }

    /// What the elements say about the holder's age.
    var ages: [(age: Int, holds: Bool)] {
        items.compactMap { item in
            guard let age = AgeStatement.age(of: item.element), case .bool(let holds) = item.value else { return nil }
            return (age, holds)
        }
    }

    /// Whether the holder is at least this old; `nil` if the document does not say.
    func isAtLeast(_ age: Int) -> Bool? { AgeStatement.isAtLeast(age, by: ages) }
}
