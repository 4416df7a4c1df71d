import Cards
import Domain
import Foundation

/// The card as an app sends it.
package enum CardInput: Sendable, Confidential {
    /// The text of a PDF417 barcode, base64 (standard or url).
    case aamva(String)
    /// The lines of a machine readable zone.
    case mrz(String)

    /// Parses it.
    ///
    /// - Throws: `Refusal` `malformed_request` with the defect.
    func read(today: CalendarDate) throws(Refusal) -> ScannedCard {
        switch self {
        case .aamva(let text):
            let standard = text.replacing("-", with: "+").replacing("_", with: "/").filter { !$0.isWhitespace }
            let padded = standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
            guard let bytes = Data(base64Encoded: padded) else {
                throw Refusal.barcodeNotBase64
            }
            return try .read(barcode: Array(bytes), today: today)
        case .mrz(let text): return .machineReadable(try MachineReadableZone.read(text, today: today))
        }
    }

    var text: String {
        switch self {
        case .aamva(let text), .mrz(let text): text
        }
    }
}
