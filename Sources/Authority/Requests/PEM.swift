import Foundation
import SwiftASN1

/// The textual encoding of RFC 7468.
enum PEM {
    /// Reads the only document of a text, which has one of these labels. Text before and after it is explanatory (§2) and
    /// ignored; lines may have any length, because writers differ and §3 lets a reader be lax there. A second document of
    /// whatever label is no such text: two readers could take two different ones for the one that is meant.
    ///
    /// - Returns: the bytes inside, or `nil` where there is no such document, or any other one, or bad base64.
    static func decode(_ text: String, labels: [String]) -> [UInt8]? {
        guard text.ranges(of: "-----BEGIN ").count == 1, text.ranges(of: "-----END ").count == 1 else { return nil }
        for label in labels {
            let parts = text.split(separator: "-----BEGIN \(label)-----", omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let body = parts[1].split(separator: "-----END \(label)-----", omittingEmptySubsequences: false)
            guard body.count == 2 else { return nil }
            let base64 = body[0].filter { !$0.isWhitespace }
            guard let bytes = Data(base64Encoded: base64), !bytes.isEmpty else { return nil }
            return Array(bytes)
        }
        return nil
    }

    /// Whether a private key was pasted along, in any of its forms; it may have lost its line breaks on the way.
    static func holdsPrivateKey(_ text: String) -> Bool { text.contains("PRIVATE KEY-----") }

    /// Writes a document; it ends with a line feed, so that documents can be joined.
    static func encode(_ bytes: [UInt8], label: String) -> String {
        PEMDocument(type: label, derBytes: bytes).pemString + "\n"
    }
}
