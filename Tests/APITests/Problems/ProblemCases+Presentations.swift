import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import API

/// What wallets present, each with one fault.
extension ProblemCase {
    private typealias Fault = @Sendable (StandInWallet, BegunPresentation) throws -> WalletAnswer

    private static func rejected(
        _ reason: Refusal.Reason, of wanted: Presentation.Wanted = .over18, _ says: String, _ fault: @escaping Fault
    ) -> ProblemCase {
        ProblemCase(.presentationRejected, reason, says, policy: RouterBench.wallets) { bench in
            try await bench.addOrigin()
            let person = try await bench.signIn()
            if wanted == .identity { try await bench.prove("+14155552671", person) }
            let begun = try await BegunPresentation(wanted, person)
            let refused = try await begun.send(try fault(bench.fixture.wallet, begun))
            // Only what cannot be read leaves the request open.
            let isOpen = [.malformed, .undecryptable, .wrongKey].contains(reason)
            let next = isOpen ? begun : try await BegunPresentation(wanted, person)
            return (refused, try await next.answer(wanted))
        }
    }

    /// A document that is minted with a fault, or changed after it was signed.
    private static func document(
        _ reason: Refusal.Reason, of wanted: Presentation.Wanted = .over18, _ says: String,
        _ change: @escaping @Sendable (inout DocumentMint, StandInWallet) throws -> Void = { _, _ in },
        after: @escaping @Sendable (inout MintedDocument, PresentationRequest) throws -> Void = { _, _ in }
    ) -> ProblemCase {
        rejected(reason, of: wanted, says) { wallet, begun in
            let received = try begun.received(.openID4VP)
            var mint = begun.person.bench.mint(wanted)
            try change(&mint, wallet)
            var document = try mint.document(for: received.request())
            try after(&document, received.request())
            return try received.answer(presenting: MintedDocument.response([document]))
        }
    }

    private static func status(
        _ reason: Refusal.Reason, _ says: String, index: UInt64, isPublished: Bool = true
    ) -> ProblemCase {
        document(reason, says) { mint, wallet in
            let list = StatusListMint(wallet.issuer)
            if isPublished { try wallet.publish(list) }
            mint.status = .map(["status_list": .map(["idx": .unsigned(index), "uri": .text(list.uri)])])
        }
    }

    static let ofPresentations: [ProblemCase] = [
        rejected(.malformed, "base64url of CBOR") { _, _ in WalletAnswer(.isoDocument, response: "x") },
        rejected(.undecryptable, "cannot be decrypted") { _, begun in
            let received = try begun.received(.isoDocument)
            let answer = try received.answer(
                presenting: try begun.person.bench.mint(.over18).response(to: received.request()))
            var bytes = Base64URL.decode(answer.response) ?? []
            if let last = bytes.popLast() { bytes.append(last ^ 1) }
            return WalletAnswer(.isoDocument, response: Base64URL.encode(bytes))
        },
        rejected(.wrongKey, "kid") { _, begun in
            let received = try begun.received(.openID4VP)
            return try received.answer(
                presenting: try begun.person.bench.mint(.over18).response(to: received.request()), kid: "other")
        },
        document(.notAsked, "document type") { mint, _ in (mint.type, mint.signedType) = ("org.example", "org.example")
        },
        document(.incomplete, "age_over_18") { mint, _ in mint.elements = [("age_over_21", .bool(false))] },
        document(.surplus, "more than was requested") { mint, _ in
            mint.elements.append(("family_name", .text("SAMPLE")))
        },
        rejected(.mixed, of: .identity, "different persons") { wallet, begun in
            let received = try begun.received(.openID4VP)
            let licence = try begun.person.bench.mint(.identity).response(to: received.request())
            return try received.answer(tokens: [
                "mdl": Base64URL.encode(licence),
                "pid": try CredentialMint.person("OTHER", wallet.issuer).presentation(for: received.request()),
            ])
        },
        document(.unknownIssuer, "no certificate") { mint, _ in mint.certificates = [] },
        document(.issuerCertificate, "signer's certificate") { mint, _ in
            mint.certificates = [try WalletIssuer().certificate]
        },
        document(.issuerSignature, "issuer's signature") { mint, wallet in
            mint.certificates = [try wallet.issuer.certifiedOtherKey()]
        },
        document(
            .digest, "digest",
            after: { document, _ in document.items = [DocumentMint.item(0, "age_over_18", .bool(true))] }),
        document(.notYetValid, "valid from") { mint, _ in mint.validFrom += 7200 },
        document(.expired, "valid until") { mint, wallet in mint.validUntil = wallet.issuer.now - 3600 },
        status(.revoked, "revoked", index: 1),
        status(.suspended, "suspended", index: 2),
        status(.statusUnknown, "not available", index: 1, isPublished: false),
        document(.unbound, "deviceSignature", after: { document, _ in document.deviceAuth = .map([:]) }),
        document(
            .deviceSignature, "device's signature",
            after: { document, request in
                try document.signDevice(
                    DocumentMint(try WalletIssuer()).deviceKey,
                    PresentationRequest(
                        channel: request.channel, nonce: "other", keyThumbprint: request.keyThumbprint, credentials: [])
                )
            }),
        rejected(.replayed, of: .identity, "nonce") { wallet, begun in
            let received = try begun.received(.openID4VP)
            var mint = CredentialMint(wallet.issuer)
            mint.claims = [
                "family_name", "given_name", "birthdate", "date_of_expiry", "issuing_country", "document_number",
            ].map { ($0, .string("x")) }
            mint.disclosed = mint.claims.map(\.name)
            mint.binding = [JSONMember("nonce", .string("other"))]
            return try received.answer(token: try mint.presentation(for: received.request()), as: "pid")
        },
        document(.documentExpired, of: .identity, "expiry_date") { mint, _ in
            mint.elements = StandInWallet.licence.map { element in
                element.name == "expiry_date"
                    ? (name: element.name, value: StandInWallet.day("2024-01-31")) : element
            }
        },
    ]
}
