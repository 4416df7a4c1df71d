import Cards
import Domain
import Fixtures
import Testing

@Suite("Readers of cards under random input")
struct CardFuzzTests {
    @Test("The barcode reader reads or refuses, and what it reads stays within bounds", arguments: 1...8)
    func barcodes(seed: UInt64) {
        var mutation = CardMutation(seed: seed)
        var policy = CardPolicy()
        policy.barcodeKeys = [PublishedBarcode.californianKey]
        var (read, refused) = (0, 0)
        let rounds = Soak.count(800, soak: 10_000)
        for round in 0..<rounds {
            let bytes = mutation.barcode()
            do throws(Refusal) {
                let card = try ScannedCard.read(barcode: bytes, today: today)
                read += 1
                #expect(card.identityCard.fields.count <= 256)
                if round % 50 == 0 {
                    let assessment = CardAssessment(
                        card, at: today.noon, policy: policy, displayName: "Michael Sample")
                    #expect(assessment.checks.count == CardCheck.Name.ofTheCard.count)
                    _ = CardFingerprint(card.identityCard)
                }
            } catch {
                refused += 1
                if error.code != .malformedRequest { Issue.record("another code") }
            }
        }
        #expect(read > rounds / 10)
        #expect(refused > rounds / 100)
    }

    @Test("The zone reader reads or refuses, whatever it is given", arguments: 1...4)
    func zones(seed: UInt64) {
        var mutation = CardMutation(seed: seed)
        var read = 0
        for round in 0..<5_000 {
            let text = mutation.zone()
            do throws(Refusal) {
                let zone = try MachineReadableZone.read(text, today: today)
                read += 1
                if round % 50 == 0 {
                    let assessment = CardAssessment(
                        .machineReadable(zone), at: today.noon, policy: CardPolicy(), displayName: nil)
                    #expect(assessment.checks.count == CardCheck.Name.ofTheCard.count)
                }
            } catch {
                if error.code != .malformedRequest { Issue.record("another code") }
            }
        }
        #expect(read > 500)
    }

    @Test("Reading the same text twice gives the same card, and a seed the same texts")
    func determinism() throws {
        var (one, other) = (CardMutation(seed: 3), CardMutation(seed: 3))
        for _ in 0..<500 {
            let bytes = one.barcode()
            #expect(bytes == other.barcode())
            #expect(
                (try? ScannedCard.read(barcode: bytes, today: today))
                    == (try? ScannedCard.read(barcode: bytes, today: today)))
        }
    }
}
