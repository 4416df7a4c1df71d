import Domain
import Encoding
import Foundation

/// Google's list of certificates of key stores that are not to be trusted, by serial number.
///
/// Both states of an entry, `REVOKED` and `SUSPENDED`, have the same effect here. An entry whose name is not hexadecimal equals no
/// serial number.
package struct AttestationStatusList: Sendable {
    private let serials: Set<String>
}

package extension AttestationStatusList {
    /// Longer lists are refused, bytes. One of 2026 has 1,700 entries and 150 KiB.
    static let maximumLength = 4 << 20

    /// Reads a list as it was fetched; `nil` if it is not one.
    init?(_ document: [UInt8]) {
        guard document.count <= Self.maximumLength,
            let list = try? JSONDecoder().decode(Document.self, from: Data(document))
        else { return nil }
        serials = Set(list.entries.keys.compactMap(AttestedSerial.normal))
    }

    /// Whether a serial number of a chain is listed.
    func contains(_ serials: [String]) -> Bool { serials.contains(where: self.serials.contains) }

    private struct Document: Decodable {
        let entries: [String: Entry]
    }

    private struct Entry: Decodable {
        let status: String
    }
}

/// Serial numbers as the status list writes them: lower-case hexadecimal without leading zeros.
enum AttestedSerial {
    /// The text of a number's bytes, the highest first.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text.drop { $0 == UInt8(ascii: "0") }, as: UTF8.self)
    }

    /// The text of a listed number in its one form; `nil` if it is not hexadecimal.
    static func normal(_ listed: String) -> String? {
        let digits = listed.utf8.drop { $0 == UInt8(ascii: "0") }
        guard listed.utf8.count <= 128,
            digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) })
        else { return nil }
        return String(decoding: digits.map { $0 >= 0x41 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
