import Domain
import Encoding
import Fixtures
import Foundation

@testable import Cards

/// Verifies what a wallet presents, with a signer whose certificate is trusted already.
struct Presenting {
    let issuer: WalletIssuer
    var request = DocumentMint.request()
    var status = StatusCheck(.ifPresent) { _, _ in .valid }

    init() throws {
        issuer = try WalletIssuer()
    }

    func verify(_ response: [UInt8], now: Date? = nil) throws(PresentationDefect) -> PresentedDocument {
        let document = try MobileDocument(deviceResponse: response[...])
        let signer: CredentialSigner
        do { signer = try issuer.signer() } catch { throw PresentationDefect(.malformed, "The fixture has no key.") }
        return try PresentedDocument(
            verifying: DocumentRules.Input(
                document: document, requested: request.credentials[0], signer: .success(signer),
                transcript: SessionTranscript(request), status: status, now: now ?? issuer.now))
    }

    /// The reason of the refusal; `nil` if the answer is accepted.
    func refusal(_ response: [UInt8], now: Date? = nil) -> PresentationDefect.Reason? {
        do throws(PresentationDefect) { _ = try verify(response, now: now) } catch { return error.reason }
        return nil
    }

    /// The reason of the refusal of a document that was changed before it was presented.
    func refusal(
        now: Date? = nil, _ mint: (inout DocumentMint) -> Void = { _ in },
        changing change: (inout MintedDocument) throws -> Void = { _ in }
    ) throws -> PresentationDefect.Reason? {
        var maker = DocumentMint(issuer)
        mint(&maker)
        var document = try maker.document(for: request)
        try change(&document)
        return refusal(MintedDocument.response([document]), now: now)
    }
}
