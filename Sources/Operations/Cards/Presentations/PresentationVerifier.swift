import Authority
import Cards
import Domain
import Encoding
import Foundation
import Synchronization
import Tokens

/// Verifies what wallets present, by the trusted issuers and by status lists that were fetched before. It reads no clock
/// and no network.
package struct PresentationVerifier: Sendable {
    private let trust: IssuerTrust
    private let requirement: StatusRequirement
    /// Finds the list in which a status has an index.
    private let find: @Sendable (_ name: StatusListName, _ index: Int, _ now: Date) -> StatusLists.Found
}

package extension PresentationVerifier {
    /// A status list by the URI at which its issuer publishes it.
    struct FetchedList: Sendable {
        let uri: String
        let bytes: [UInt8]

        package init(uri: String, bytes: [UInt8]) {
            self.uri = uri
            self.bytes = bytes
        }
    }

    init(trust: IssuerTrust, status requirement: StatusRequirement, lists: [FetchedList]) {
        self.trust = trust
        self.requirement = requirement
        find = { name, _, now in
            guard let list = lists.first(where: { $0.uri.hasSameBytes(as: name.uri) }) else {
                return .failure(.unavailable(name.uri))
            }
            return Result { () throws(StatusList.Defect) in try trust.statusList(list.bytes, name, now) }
        }
    }

    /// The answer of a wallet.
    enum Answer: Sendable {
        /// A JWE, as `dc_api.jwt` and `direct_post.jwt` have it.
        case encrypted(String, ResponseKey)
        /// Base64url of Annex C's encryption.
        case annexC(String, ResponseKey)
        /// The JSON object with `vp_token`, decrypted.
        case token([UInt8])
        /// A `DeviceResponse` that is decrypted already.
        case deviceResponse([UInt8])
    }

    /// A credential that passed all rules.
    enum Verified: Sendable {
        case document(PresentedDocument)
        case credential(PresentedCredential)
    }

    /// Verifies an answer to a request.
    ///
    /// - Throws: the first defect.
    func verify(
        _ answer: Answer, to request: PresentationRequest, now: Date
    ) throws(PresentationDefect) -> Verified {
        try verified(input(answer, request, now))
    }

    /// The result of every rule, for a report.
    ///
    /// - Throws: a defect of the form, after which no rule can be applied.
    func results(
        _ answer: Answer, to request: PresentationRequest, now: Date
    ) throws(PresentationDefect) -> [(rule: String, defect: PresentationDefect?)] {
        switch try input(answer, request, now) {
        case .document(let input): DocumentRules.all.results(input)
        case .credential(let input): CredentialRules.all.results(input)
        }
    }
}

extension PresentationVerifier {
    private init(
        _ trust: IssuerTrust, _ requirement: StatusRequirement,
        find: @escaping @Sendable (StatusListName, Int, Date) -> StatusLists.Found
    ) {
        (self.trust, self.requirement, self.find) = (trust, requirement, find)
    }

    /// Verifies an answer to a request, and fetches the status list of its credential if it is not kept. A trusted issuer
    /// has named that list, and the device of the holder has presented the credential for this request.
    ///
    /// - Throws: the first defect.
    func verify(
        _ answer: Answer, to request: PresentationRequest, now: Date, fetching lists: StatusLists
    ) async throws(PresentationDefect) -> Verified {
        let missing = MissingList()
        do throws(PresentationDefect) {
            return try PresentationVerifier(trust, requirement) { name, index, _ in
                if let found = lists.kept(name, for: index) { return found }
                missing.note(name, index)
                return .failure(.unavailable(name.uri))
            }.verify(answer, to: request, now: now)
        } catch {
            guard error.reason == .statusUnknown, let (name, index) = missing.noted else { throw error }
            let found = await lists.find(name, for: index) {
                [trust] (bytes, moment) throws(StatusList.Defect) in try trust.statusList(bytes, name, moment)
            }
            return try PresentationVerifier(trust, requirement) { other, index, _ in
                other == name ? found : lists.kept(other, for: index) ?? .failure(.unavailable(other.uri))
            }.verify(answer, to: request, now: now)
        }
    }
}

/// The status list that was not kept, and the index in it.
private final class MissingList: Sendable {
    private let value = Mutex<(StatusListName, Int)?>(nil)

    var noted: (StatusListName, Int)? { value.withLock { $0 } }

    func note(_ name: StatusListName, _ index: Int) { value.withLock { $0 = (name, index) } }
}

extension IssuerTrust {
    fileprivate func knownSigner(
        of chain: [[UInt8]], for use: Use, _ now: Date
    ) -> Result<CredentialSigner, PresentationDefect> {
        Result { () throws(PresentationDefect) in try signer(of: chain, for: use, now: now) }
    }

    fileprivate func statusList(
        _ bytes: [UInt8], _ name: StatusListName, _ now: Date
    ) throws(StatusList.Defect) -> StatusList.Verified {
        let list = try StatusList(bytes, for: name.format)
        return try list.verified(
            at: name.uri, signer: knownSigner(of: list.certificates, for: .statusList(root: name.root), now), now: now)
    }
}

extension PresentationVerifier {
    private enum Input {
        case document(DocumentRules.Input)
        case credential(CredentialRules.Input)
    }

    private func input(
        _ answer: Answer, _ request: PresentationRequest, _ now: Date
    ) throws(PresentationDefect) -> Input {
        let transcript = SessionTranscript(request)
        switch answer {
        case .encrypted(let text, let key):
            return try input(.token(EncryptedResponse.open(text, with: key)), request, now)
        case .annexC(let text, let key):
            let opened = try AnnexCResponse.open(text, with: key, transcript: transcript.bytes)
            return try input(.deviceResponse(opened), request, now)
        case .token(let json):
            let tokens = try PresentationToken.all(json, answering: request)
            guard let token = tokens.first, tokens.count == 1 else {
                throw try severalDefect(tokens, request, now)
            }
            return try input(token, request, now)
        case .deviceResponse(let bytes):
            let documents = request.credentials.filter { $0.format == .mobileDocument }
            let document = try MobileDocument(deviceResponse: bytes[...])
            guard let requested = documents.first(where: { document.isOfType($0.type) }) ?? documents.first else {
                throw PresentationDefect(.notAsked, "The request is for no mobile document.")
            }
            return self.document(document, requested, transcript, now)
        }
    }

    private func input(
        _ token: PresentationToken, _ request: PresentationRequest, _ now: Date
    ) throws(PresentationDefect) -> Input {
        switch token.requested.format {
        case .mobileDocument:
            guard let bytes = Base64URL.decode(token.presentation) else {
                throw PresentationDefect(.malformed, "The DeviceResponse is not base64url without padding.")
            }
            let document = try MobileDocument(deviceResponse: bytes[...])
            return self.document(document, token.requested, SessionTranscript(request), now)
        case .selectiveDisclosure: return try credential(token, request, now)
        }
    }

    /// Why an answer with several credentials is refused. One is enough, and those of different persons are a fraud.
    ///
    /// - Throws: the defect of the first one that is not valid by itself.
    private func severalDefect(
        _ tokens: [PresentationToken], _ request: PresentationRequest, _ now: Date
    ) throws(PresentationDefect) -> PresentationDefect {
        var holders: [PresentedIdentity] = []
        for token in tokens { holders.append(try verified(input(token, request, now)).identity) }
        let isOnePerson = zip(holders, holders.dropFirst()).allSatisfy { $0.isSamePerson(as: $1) }
        return isOnePerson
            ? PresentationDefect(.surplus, "The vp_token answers several parts of the query. One is enough.")
            : PresentationDefect(.mixed, "The credentials of the vp_token are of different persons.")
    }

    private func verified(_ input: Input) throws(PresentationDefect) -> Verified {
        switch input {
        case .document(let input): .document(try PresentedDocument(verifying: input))
        case .credential(let input): .credential(try PresentedCredential(verifying: input))
        }
    }

    private func document(
        _ document: MobileDocument, _ requested: RequestedCredential, _ transcript: SessionTranscript, _ now: Date
    ) -> Input {
        .document(
            DocumentRules.Input(
                document: document, requested: requested,
                signer: trust.knownSigner(of: document.certificates, for: .mobileDocument(type: requested.type), now),
                transcript: transcript, status: statusCheck(.mobileDocument, now), now: now))
    }

    private func credential(
        _ token: PresentationToken, _ request: PresentationRequest, _ now: Date
    ) throws(PresentationDefect) -> Input {
        let credential = try SelectiveDisclosure(token.presentation)
        let use = IssuerTrust.Use.selectiveDisclosure(type: token.requested.type)
        return .credential(
            CredentialRules.Input(
                credential: credential, requested: token.requested, request: request,
                signer: trust.knownSigner(of: credential.certificates, for: use, now),
                status: statusCheck(.selectiveDisclosure, now), now: now))
    }

    private func statusCheck(_ format: RequestedCredential.Format, _ now: Date) -> StatusCheck {
        StatusCheck(requirement) { reference, signer in
            let name = StatusListName(uri: reference.uri, root: signer.root, format: format)
            return switch find(name, reference.index, now) {
            case .success(let list): list.status(at: reference.index)
            case .failure(let defect): .unknown(defect.detail)
            }
        }
    }
}

extension PresentedIdentity {
    /// Whether name and birthday are the same, byte by byte.
    fileprivate func isSamePerson(as other: PresentedIdentity) -> Bool {
        func isSame(_ text: String?, _ other: String?) -> Bool {
            guard let text, let other else { return text == nil && other == nil }
            return text.hasSameBytes(as: other)
        }
        return isSame(familyName, other.familyName) && isSame(givenName, other.givenName)
            && dateOfBirth == other.dateOfBirth
    }
}
