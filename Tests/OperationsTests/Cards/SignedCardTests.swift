import Cards
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("A card with its issuer's signature")
struct SignedCardTests {
    private static let text = CardSpecimen.unverifiedCredential

    private static var signed: CardSpecimen {
        get throws {
            var specimen = try CardSpecimen.virginia
            specimen.credential = text
            return specimen
        }
    }

    @Test("is reported to its holder, to a reviewer and in the export, and gives no higher level")
    func reported() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let shown = try await bench.show(try Self.signed, alice)
            #expect(shown.status == .verified && shown.assurance == .barcode)
            #expect(shown.facts.issuerSignature.credential == Base64URL.decode(Self.text))
            let later = try await fixture.context.readCard(shown.id.description, to: alice.session)
            #expect(later.facts.issuerSignature == shown.facts.issuerSignature)
            let bob = try await bench.withPhone("bob", "+14155552672")
            let waiting = try await bench.show(try Self.signed, bob)
            #expect(waiting.status == .inReview)
            #expect(try await bench.admin.readCardInReview(waiting.id).facts?.issuerSignature.state == .present)
            let export = try await bench.fixture.context.exportPersonalData(for: alice.session).json.jsonText
            #expect(export.contains(#""issuer_signature":"present","signed_credential":"\#(Self.text)""#))
        }
    }

    @Test("gives the level issuer_signed if the issuer's key is pinned, and the issuer's confirmation a higher one")
    func verified() async throws {
        var policy = Policy()
        policy.cards.barcodeKeys = [PublishedBarcode.californianKey]
        let input = Service.CardInput.aamva(Data(PublishedBarcode.california.utf8).base64EncodedString())
        try await ServiceFixture.run(policy) { fixture in
            for (number, confirmation, level) in [
                ("+14155552671", IssuerConfirmation.unanswered, Assurance.issuerSigned),
                ("+14155552672", .confirmed, .issuerChecked),
            ] {
                let bench = try CardBench(fixture) { _ in confirmation }
                let person = try await bench.withPhone(number, number)
                let shown = try await bench.submit(input, person)
                #expect(shown.facts.issuerSignature.state == .verified)
                if shown.status == .inReview { try await bench.admin.approveCard(shown.id, reason: "twins") }
                #expect(try await bench.assurance(person) == level)
            }
        }
    }

    @Test("is accepted as any other card if the signature is damaged, and the damage is reported")
    func damaged() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            var damaged = try Self.signed
            damaged.credential = String(Self.text.dropLast(9))
            let shown = try await bench.show(damaged, alice)
            #expect(shown.status == .verified && shown.assurance == .barcode)
            #expect(shown.facts.issuerSignature == IssuerSignature(.unreadable))
        }
    }

    @Test("has its credential sealed, and erased with the person")
    func erased() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let shown = try await bench.show(try Self.signed, alice)
            let credential = try #require(shown.facts.issuerSignature.credential)
            for (table, bytes) in try await bench.sealedValues() {
                #expect(!bytes.contains(credential) && !bytes.contains(Array(Self.text.utf8)), "\(table)")
            }
            _ = try await fixture.context.erasePersonalData(for: alice.session)
            try await fixture.housekeeping()
            let left = try await fixture.store.read { try $0.query("SELECT id FROM identity_cards").count }
            #expect(left == 0)
        }
    }

    @Test("loses its credential with its number, because the credential names the document too")
    func purged() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let shown = try await bench.show(try Self.signed, alice)
            fixture.clock.advance(1)
            let archive = ArchiveUsers(fixture.admin, keys: fixture.personalKeys)
            let written = try await archive.write(
                since: Date(timeIntervalSince1970: 0), again: false, recipients: ["age1example"]
            ) { _ in }
            #expect(try await archive.mark(written, purging: [.documentNumber]) == 1)
            let left = try await fixture.context.readCard(shown.id.description, to: alice.session)
            #expect(left.facts.issuerSignature == IssuerSignature(.present))
        }
    }
}
