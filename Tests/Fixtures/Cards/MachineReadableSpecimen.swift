import Cards
import Domain

/// Writes machine readable zones of invented people: those of ICAO 9303, of a state that exists and with another
/// birthday. The standard's own persons would wait for a reviewer.
package struct MachineReadableSpecimen: Sendable {
    package var format = MachineReadableFormat.td3
    package var code = "P<"
    package var state = "NOR"
    package var nationality = "NOR"
    package var family = "ERIKSSON"
    package var given = "ANNA<MARIA"
    package var number = "L898902C3"
    package var birth = "740822"
    package var sex = "F"
    package var expiry = "340415"
    package var optionalData = ""
    package var furtherOptionalData = ""

    /// The document of a format, with the values of the standard's example and a later expiry.
    package init(_ format: MachineReadableFormat) {
        self.format = format
        switch format {
        case .td1: (code, number) = ("I<", "D23145890")
        case .td2: (code, number) = ("I<", "D23145890")
        case .td3: optionalData = "ZE184226B"
        }
    }

    package var lines: [String] {
        let (numberField, overflow) = numberParts
        let birthField = birth + Self.digit(birth)
        let expiryField = expiry + Self.digit(expiry)
        let name = Self.filled(family + "<<" + given, format == .td1 ? 30 : format == .td2 ? 31 : 39)
        switch format {
        case .td1:
            let first = numberField + Self.filled(overflow + optionalData, 15)
            let further = Self.filled(furtherOptionalData, 11)
            let composite = Self.digit(first + birthField + expiryField + further)
            return [
                code + state + first, birthField + sex + expiryField + nationality + further + composite, name,
            ]
        case .td2:
            let optional = Self.filled(overflow + optionalData, 7)
            let composite = Self.digit(numberField + birthField + expiryField + optional)
            return [
                code + state + name, numberField + nationality + birthField + sex + expiryField + optional + composite,
            ]
        case .td3:
            let optional = Self.filled(optionalData, 14)
            let optionalField = optional + Self.digit(optional)
            let composite = Self.digit(numberField + birthField + expiryField + optionalField)
            return [
                code + state + name,
                numberField + nationality + birthField + sex + expiryField + optionalField + composite,
            ]
        }
    }

    /// The lines with line feeds between them.
    package var text: String { lines.joined(separator: "\n") }

    private var numberParts: (field: String, overflow: String) {
        guard number.utf8.count > 9, format != .td3 else {
            let field = Self.filled(number, 9)
            return (field + Self.digit(field), "")
        }
        return (number.prefix(9) + "<", number.dropFirst(9) + Self.digit(number) + "<")
    }

    private static func filled(_ text: String, _ length: Int) -> String {
        (text + String(repeating: "<", count: length)).prefix(length).description
    }

    /// Written apart from the room under test.
    private static func digit(_ text: String) -> String {
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        let sum = zip(text, (0..<text.count).map { [7, 3, 1][$0 % 3] }).reduce(0) { sum, pair in
            sum + (alphabet.firstIndex(of: pair.0) ?? 0) * pair.1
        }
        return String(sum % 10)
    }
}
