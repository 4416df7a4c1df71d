import Foundation

/// An error as plain words or a code, for logs and sentences. It is never a type's name, which is meaningless to an
/// operator. It is never a dump of the error either, which may contain confidential values.
package enum ErrorWords {
    /// The error's own sentence, or else the name of its case in words.
    package static func of(_ error: any Error) -> String {
        if let refusal = error as? Refusal {
            return refusal.privateDetail.map { "\(refusal.code.rawValue): \($0)" } ?? refusal.description
        }
        if error is CancellationError { return "cancelled" }
        if let error = error as? CocoaError { return error.localizedDescription }
        if type(of: error) is any CustomStringConvertible.Type { return words(String(describing: error)) }
        let mirror = Mirror(reflecting: error)
        guard mirror.displayStyle == .enum else { return "an error without words of its own" }
        if let label = mirror.children.first?.label { return words(label) }
        return words(String(describing: error))
    }

    /// `HTTPClientError.connectTimeout` and `connectTimeout` become `connect timeout`; a sentence stays as it is.
    private static func words(_ text: String) -> String {
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2E, 0x5F: true
            default: false
            }
        }
        guard isName, let name = text.split(separator: ".").last else { return text }
        let letters = Array(name.unicodeScalars)
        var result = ""
        for (index, letter) in letters.enumerated() {
            let isCapital = ("A"..."Z").contains(letter)
            let isStart = isCapital && index > 0 && !("A"..."Z").contains(letters[index - 1])
            // Abbreviations keep their capitals: `brokenTLS` becomes `broken TLS`.
            let isWord = index + 1 == letters.count || !("A"..."Z").contains(letters[index + 1])
            if isStart { result += " " }
            result.unicodeScalars.append(isStart && isWord ? lowered(letter) : letter)
        }
        return result
    }

    private static func lowered(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        Unicode.Scalar(UInt8(scalar.value | 0x20))
    }
}
