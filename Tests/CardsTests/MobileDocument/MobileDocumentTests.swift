import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Cards

@Suite("A mobile document")
struct MobileDocumentTests {
    private let presenting: Presenting

    init() throws {
        presenting = try Presenting()
    }

    private static let channels: [PresentationRequest.Channel] = [
        .digitalCredentials(origin: "https://app.example"),
        .annexC(origin: "https://app.example", encryptionInfo: "gmVkY2FwaQ"),
        .redirect(clientID: "x509_hash:abc", responseURI: "https://id.example/wallet/responses/1"),
    ]

    @Test("is accepted for the request that it answers, by each channel")
    func accepted() throws {
        var presenting = presenting
        for channel in Self.channels {
            presenting.request = DocumentMint.request(channel)
            let document = try presenting.verify(DocumentMint(presenting.issuer).response(to: presenting.request))
            #expect(document.type == DocumentMint.licence)
            #expect(document.value("age_over_18", in: DocumentMint.nameSpace) == .bool(true))
            #expect(document.value("age_over_18", in: "other") == nil)
            #expect(document.isAtLeast(18) == true && document.isAtLeast(21) == false && document.isAtLeast(20) == nil)
        }
    }

    @Test("that answers by one channel is no answer by another")
    func channels() throws {
        var presenting = presenting
        for (index, sent) in Self.channels.enumerated() {
            let response = try DocumentMint(presenting.issuer).response(to: DocumentMint.request(sent))
            for (other, expected) in Self.channels.enumerated() where other != index {
                presenting.request = DocumentMint.request(expected)
                #expect(presenting.refusal(response) == .deviceSignature, "\(sent) \(expected)")
            }
        }
    }

    @Test("is bound to every part of the transcript")
    func transcript() throws {
        let url = "https://id.example/wallet/responses/1"
        for (sent, expected) in [
            (DocumentMint.request(), DocumentMint.request(nonce: "other")),
            (DocumentMint.request(), DocumentMint.request(keyThumbprint: Array(2...33))),
            (DocumentMint.request(), DocumentMint.request(.digitalCredentials(origin: "https://evil.example"))),
            (
                DocumentMint.request(Self.channels[1]),
                DocumentMint.request(.annexC(origin: "https://app.example", encryptionInfo: "gmVkY2FwaR"))
            ),
            (
                DocumentMint.request(Self.channels[1]),
                DocumentMint.request(.annexC(origin: "https://evil.example", encryptionInfo: "gmVkY2FwaQ"))
            ),
            (
                DocumentMint.request(Self.channels[2]),
                DocumentMint.request(.redirect(clientID: "x509_hash:abd", responseURI: url))
            ),
            (
                DocumentMint.request(Self.channels[2]),
                DocumentMint.request(.redirect(clientID: "x509_hash:abc", responseURI: url + "2"))
            ),
        ] {
            var presenting = presenting
            presenting.request = expected
            #expect(presenting.refusal(try DocumentMint(presenting.issuer).response(to: sent)) == .deviceSignature)
        }
    }

    @Test("has no text that others see with what cannot be seen, of another type, or too long")
    func texts() throws {
        var presenting = presenting
        for name in PresentedIdentity.texts {
            presenting.request = DocumentMint.request(claims: [name])
            let refused = CredentialNames.refused.map { CBORValue.text($0) }
            for value in refused + [.map(["a": .text("b")]), .unsigned(1), .bytes([0x41])] {
                #expect(try presenting.refusal { $0.elements = [(name, value)] } == .malformed)
            }
            for text in CredentialNames.honest {
                #expect(try presenting.refusal { $0.elements = [(name, .text(text))] } == nil, "\(text)")
            }
        }
    }

    @Test("has digests over its elements as received, whatever the order of their keys")
    func digestsOfReceivedBytes() throws {
        let item = DocumentMint.item(0, "age_over_18", .bool(true))
        // A verifier that encodes the element again would compare with another digest.
        let content = try #require(item.embedded)
        #expect(CBORValue.embedding(content).encoded != item.encoded)
        #expect(try presenting.refusal() == nil)
        for algorithm in ["SHA-384", "SHA-512"] {
            #expect(try presenting.refusal({ $0.digestAlgorithm = algorithm }) == nil)
        }
        #expect(try presenting.refusal({ $0.digestAlgorithm = "SHA-1" }) == .malformed)
    }

    @Test("is refused with an element that the issuer did not sign")
    func digests() throws {
        for position in 0..<2 {
            #expect(
                try presenting.refusal(changing: { document in
                    let name = ["age_over_18", "age_over_21"][position]
                    document.items[position] = DocumentMint.item(UInt64(position), name, .bool(true))
                }) == .digest)
        }
        #expect(try presenting.refusal(changing: { $0.nameSpace = "org.iso.18013.5.2" }) == .digest)
        #expect(
            try presenting.refusal(changing: { document in
                document.items.append(DocumentMint.item(2, "age_over_65", .bool(true)))
            }) == .digest)
        // The same element twice, and two elements with one digest.
        #expect(try presenting.refusal(changing: { $0.items.append($0.items[0]) }) == .malformed)
        #expect(
            try presenting.refusal(changing: { document in
                document.items.append(DocumentMint.item(0, "age_over_65", .bool(true)))
            }) == .malformed)
    }

    @Test("is refused before and after its validity, but for a minute between clocks")
    func validity() throws {
        let now = presenting.issuer.now
        for (from, until, expected) in [
            (now + 59, now + 3600, nil), (now + 61, now + 3600, .notYetValid), (now - 3600, now - 59, nil),
            (now - 3600, now - 61, .expired), (now + 3600, now - 3600, .notYetValid),
        ] as [(Date, Date, PresentationDefect.Reason?)] {
            #expect(try presenting.refusal({ ($0.validFrom, $0.validUntil) = (from, until) }) == expected)
        }
        for signedAt in [now - 2 * 86_400, now + 401 * 86_400] {
            #expect(try presenting.refusal({ $0.signedAt = signedAt }) == .issuerCertificate)
        }
    }

    @Test("is alone in its answer")
    func alone() throws {
        let mint = DocumentMint(presenting.issuer)
        let document = try mint.document(for: presenting.request)
        var forged = document
        forged.items[1] = DocumentMint.item(1, "age_over_21", .bool(true))
        #expect(presenting.refusal(MintedDocument.response([document])) == nil)
        #expect(presenting.refusal(MintedDocument.response([document, forged])) == .surplus)
        #expect(presenting.refusal(MintedDocument.response([document, document])) == .surplus)
        #expect(presenting.refusal(MintedDocument.response([])) == .incomplete)
        #expect(presenting.refusal(MintedDocument.response([document], status: 10)) == .malformed)
    }

    @Test("is of the requested type in all three places")
    func type() throws {
        #expect(try presenting.refusal({ ($0.type, $0.signedType) = ("other", "other") }) == .notAsked)
        #expect(try presenting.refusal({ $0.signedType = "other" }) == .malformed)
        #expect(try presenting.refusal({ $0.type = "other" }) == .notAsked)
        #expect(try presenting.refusal({ $0.version = "1.1" }) == .malformed)
    }

    @Test("is signed by the issuer and by the device to which it was issued")
    func signatures() throws {
        let other = P256.Signing.PrivateKey()
        let request = presenting.request
        #expect(try presenting.refusal(changing: { try $0.signDevice(other, request) }) == .deviceSignature)
        #expect(
            try presenting.refusal(changing: { document in
                let payload = try #require(document.issuerAuth.elements?[2].bytes)
                document.issuerAuth = try DocumentMint.sign(Array(payload), by: other)
            }) == .issuerSignature)
        #expect(try presenting.refusal(changing: { $0.deviceAuth = .map([:]) }) == .unbound)
        #expect(
            try presenting.refusal(changing: { document in
                let signature = document.deviceAuth["deviceSignature"] ?? .null
                document.deviceAuth = .map(["deviceMac": signature])
            }) == .unbound)
        let key = P256.Signing.PrivateKey()
        #expect(
            try presenting.refusal(
                { $0.deviceKey = key }, changing: { try $0.signDevice(key, request, isDetached: false) }) == .malformed)
    }

    @Test("has what was requested and nothing else")
    func query() throws {
        let age = CBORValue.bool(true)
        for (elements, expected) in [
            ([("age_over_18", age)], PresentationDefect.Reason.incomplete), ([], .incomplete),
            ([("age_over_21", age)], nil), ([("age_over_18", .bool(false))], nil),
            ([("age_over_16", age), ("age_over_21", .bool(false))], .incomplete),
            ([("age_over_18", age), ("age_over_21", age), ("age_over_25", age)], .surplus),
            ([("age_over_18", age), ("age_over_21", age), ("family_name", .text("SAMPLE"))], .surplus),
            ([("age_over_18", .text("true")), ("age_over_21", .bool(false))], .incomplete),
            ([("age_over_18", .bool(false)), ("age_over_21", age)], .incomplete),
        ] as [([(String, CBORValue)], PresentationDefect.Reason?)] {
            let names = elements.map(\.0)
            #expect(
                try presenting.refusal({ $0.elements = elements.map { (name: $0.0, value: $0.1) } }) == expected,
                "\(names)")
        }
        let request = presenting.request
        let key = P256.Signing.PrivateKey()
        #expect(
            try presenting.refusal(
                { $0.deviceKey = key },
                changing: { document in
                    document.deviceNameSpaces = .embedding(.map(["org.iso.18013.5.1": .map(["age_over_18": age])]))
                    try document.signDevice(key, request)
                }) == .surplus)
    }

    @Test("names the place of its signer, and is not printed with a day that has passed")
    func domain() throws {
        var presenting = presenting
        presenting.request = DocumentMint.request(
            claims: ["issuing_country", "issuing_jurisdiction", "expiry_date"])
        func refusal(
            _ country: String, _ jurisdiction: String, _ expiry: CBORTag
        ) throws -> PresentationDefect.Reason? {
            try presenting.refusal({
                $0.elements = [
                    ("issuing_country", .text(country)), ("issuing_jurisdiction", .text(jurisdiction)),
                    ("expiry_date", .tagged(expiry)),
                ]
            })
        }
        // The reference time is 15 January 2027.
        let valid = CBORTag(1004, .text("2027-01-15"))
        #expect(try refusal("US", "US-VA", valid) == nil)
        #expect(try refusal("CA", "US-VA", valid) == .issuerCertificate)
        #expect(try refusal("US", "US-MD", valid) == .issuerCertificate)
        #expect(try refusal("US", "US-VA", CBORTag(1004, .text("2027-01-13"))) == .documentExpired)
        #expect(try refusal("US", "US-VA", CBORTag(0, .text("2027-01-13T00:00:00Z"))) == .documentExpired)
    }

    @Test("is refused by the status that its issuer's list gives")
    func status() throws {
        let list = CBORValue.map(["status_list": .map(["idx": .unsigned(7), "uri": .text("https://dmv.example/1")])])
        for (answer, expected) in [
            (CredentialStatus.valid, nil), (.revoked, .revoked), (.suspended, .suspended),
            (.unknown("The list cannot be read."), .statusUnknown),
        ] as [(CredentialStatus, PresentationDefect.Reason?)] {
            var presenting = presenting
            presenting.status = StatusCheck(.ifPresent) { reference, _ in
                reference == StatusReference(uri: "https://dmv.example/1", index: 7) ? answer : .unknown("")
            }
            #expect(try presenting.refusal({ $0.status = list }) == expected)
            #expect(try presenting.refusal() == nil)
            presenting.status = StatusCheck(.off) { _, _ in answer }
            #expect(try presenting.refusal({ $0.status = list }) == nil)
            presenting.status = StatusCheck(.required) { _, _ in answer }
            #expect(try presenting.refusal() == .statusUnknown)
            #expect(try presenting.refusal({ $0.status = .map(["identifier_list": .map([:])]) }) == .statusUnknown)
        }
    }

    @Test("has no rule that a list of results leaves out")
    func results() throws {
        let document = try MobileDocument(deviceResponse: DocumentMint(presenting.issuer).response()[...])
        let unknown = PresentationDefect(.unknownIssuer, "Unknown.")
        var request = DocumentMint.request(nonce: "other").credentials[0]
        request = RequestedCredential(id: request.id, format: request.format, type: "other", claims: [])
        let results = DocumentRules.all.results(
            DocumentRules.Input(
                document: document, requested: request, signer: .failure(unknown),
                transcript: SessionTranscript(DocumentMint.request(nonce: "other")), status: presenting.status,
                now: presenting.issuer.now + 90 * 86_400))
        #expect(results.count == DocumentRules.all.count)
        #expect(results.last?.rule == "status")
        #expect(
            results.compactMap { $0.defect?.reason } == [
                .notAsked, .unknownIssuer, .expired, .deviceSignature, .surplus,
            ])
    }
}
