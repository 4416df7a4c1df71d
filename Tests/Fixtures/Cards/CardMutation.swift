import Cards
import Domain

/// Bends card texts at random, the same way for the same seed: what a fuzz test and a benchmark feed to the readers.
package struct CardMutation: Sendable {
    private var random: SeededRandom
    private let specimens: [[UInt8]]
    private let zones: [String]

    /// What cards are made of; joined at random these come closer to one than noise does.
    private static let pieces: [[UInt8]] = [
        "@\n\u{1E}\r", "ANSI ", "AAMVA", "AMVA", "636000", "100002", "DL", "ID", "EN", "ZV", "ZVZVA", "ZZ", "ZZZZA",
        "DLDAQ", "\n", "\r",
        "\r\n", "|", ",", ",,,", "DAA", "DCS", "DCT", "DAC", "DBB", "DBA", "06061986", "19860606", "661986", "00000000",
        "99999999", "NONE", "UNAVL", "00410278", "\u{FEFF}", "\u{0}", "\u{7F}", "\u{202E}", "É", "<<", "<<<<<<<<<",
        "DAK", "-", "%", "?;", "=", "^", "$", "_%", "\u{85}", "\u{A0}", "\u{AD}", "\t",
    ].map { Array($0.utf8) }

    /// The tracks of a magnetic stripe.
    private static let stripe = Array(
        "%BCVICTORIA^SAMPLE,$MICHAEL JOHN^12 MAIN ST$VICTORIA BC  V8W 1P6^?;6360281234567=321219860606=?_%0AV8W1P6?"
            .utf8)

    package init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        let codes = ["VA", "CA", "NY", "ON", "QC", "PR"]
        let barcodes = codes.enumerated().flatMap { place, code in
            [1, 2, 4, 8, 10, 11].compactMap { version in
                var specimen = CardSpecimen(code, version: version)
                let deviations = CardSpecimen.Deviation.allCases
                specimen?.deviations = [deviations[(place * 6 + version) % deviations.count]]
                if version == 11 { specimen?.credential = CardSpecimen.unverifiedCredential }
                return specimen?.bytes
            }
        }
        specimens =
            barcodes + Array(repeating: Self.stripe, count: 4)
            + Array(repeating: Array(PublishedBarcode.california.utf8), count: 4)
        zones = MachineReadableFormat.allCases.map { MachineReadableSpecimen($0).text }
    }

    /// The next text for the reader of barcodes: a bent card, pieces of cards, or noise.
    package mutating func barcode() -> [UInt8] {
        switch below(16) {
        case 0: return (0..<below(300)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        case 1, 2: return (0..<below(60)).flatMap { _ in Self.pieces[below(Self.pieces.count)] }
        default: return bend(specimens[below(specimens.count)])
        }
    }

    /// The next text for the reader of machine readable zones.
    package mutating func zone() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789<<<<<<< abc\n\r!".utf8)
        var bytes = Array(zones[below(zones.count)].utf8)
        for _ in 0...below(4) {
            let place = below(bytes.count)
            switch below(12) {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(alphabet[below(alphabet.count)], at: place)
            case 2: bytes = Array(bytes.shuffled(using: &random))
            default: bytes[place] = alphabet[below(alphabet.count)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func below(_ limit: Int) -> Int {
        Int.random(in: 0..<max(limit, 1), using: &random)
    }

    private mutating func bend(_ card: [UInt8]) -> [UInt8] {
        var bytes = card
        for _ in 0...below(6) {
            guard !bytes.isEmpty else { return bytes }
            // Half of the changes meet the header, where the reader decides most.
            let place = below(2) == 0 ? below(min(bytes.count, 60)) : below(bytes.count)
            let end = min(bytes.count, place + 1 + below(30))
            switch below(9) {
            case 0, 1: bytes[place] = UInt8(truncatingIfNeeded: random.next())
            case 2: bytes.remove(at: place)
            case 3: bytes.removeSubrange(place..<end)
            case 4: bytes.insert(contentsOf: bytes[place..<end], at: below(bytes.count))
            case 5, 6: bytes.insert(contentsOf: Self.pieces[below(Self.pieces.count)], at: place)
            case 7: bytes.removeSubrange(place...)
            default: bytes.swapAt(place, below(bytes.count))
            }
        }
        return bytes
    }
}
