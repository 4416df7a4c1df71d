import Foundation
import SwiftASN1

/// The textual encoding of RFC 7468.
enum PEM {
    /// Reads the only document with one of these labels. Text before and after it is explanatory (§2) and ignored; lines
    /// may have any length, because writers differ and §3 lets a reader be lax there.
    ///
    /// - Returns: the bytes inside, or `nil` where there is no such document, or more than one, or bad base64.
    static func decode(_ text: String, labels: [String]) -> [UInt8]? {
        for label in labels {
            let parts = text.split(separator: "-----BEGIN \(label)-----", omittingEmptySubsequences: false)
            guard parts.count > 1 else { continue }
            let body = parts[1].split(separator: "-----END \(label)-----", omittingEmptySubsequences: false)
            guard parts.count == 2, body.count == 2 else { return nil }
            let base64 = body[0].filter { !$0.isWhitespace }
            guard let bytes = Data(base64Encoded: base64), !bytes.isEmpty else { return nil }
            return Array(bytes)
        }
        return nil
    }

    /// Writes a document; it ends with a line feed, so that documents can be joined.
    static func encode(_ bytes: [UInt8], label: String) -> String {
        PEMDocument(type: label, derBytes: bytes).pemString + "\n"
    }
}
