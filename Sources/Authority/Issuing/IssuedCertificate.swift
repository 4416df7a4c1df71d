import Crypto
import Encoding
import Foundation
import SwiftASN1
import X509

package struct IssuedCertificate: Sendable, Equatable {
    /// The serial number as 32 lower-case hexadecimal digits.
    package let serial: String
    package let der: [UInt8]
    /// SHA-256 of ``der``: `x5t#S256` of RFC 8705 §3.1.
    package let thumbprint: [UInt8]
    /// The first second of its validity period.
    package let notBefore: Date
    /// The last second of its validity period.
    package let notAfter: Date
    /// SHA-256 of the certified key's SubjectPublicKeyInfo.
    package let keyHash: [UInt8]

    init(_ der: [UInt8], serial: Certificate.SerialNumber, notBefore: Date, notAfter: Date, keyHash: [UInt8]) {
        self.der = der
        thumbprint = Array(SHA256.hash(data: der))
        self.serial = SerialNumber.hexadecimal(serial)
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.keyHash = keyHash
    }
}

package extension IssuedCertificate {
    /// Converts a serial number that a person typed or pasted to the form of ``serial``. OpenSSL writes capitals, omits
    /// leading zeros, and in its long output puts colons between the bytes.
    ///
    /// - Returns: `nil` if the text is not a serial number.
    static func canonicalSerial(_ text: String) -> String? {
        let digits = text.replacing(":", with: "")
        return (try? SerialNumber.bytes(digits)).map { SerialNumber.hexadecimal(Certificate.SerialNumber(bytes: $0)) }
    }

    /// The certificate in PEM (RFC 7468 §5), with a line feed at the end.
    var pem: String { PEM.encode(der, label: "CERTIFICATE") }
}

/// Serial numbers: 128 random bits (RFC 5280 §4.1.2.2 requires a positive number of at most 20 octets).
enum SerialNumber {
    /// Takes 16 random bytes as a positive number. If the first bit is set, DER adds a zero octet in front, so that
    /// no bit is lost to the sign.
    static func make(_ random: [UInt8]) throws(AuthorityError) -> Certificate.SerialNumber {
        guard random.count == 16, random.contains(where: { $0 != 0 }) else { throw .invalidSerial }
        return Certificate.SerialNumber(bytes: random)
    }

    /// At least 32 digits in lower case. Leading zeros are written, so that a serial has one text in store and
    /// protocol.
    static func hexadecimal(_ serial: Certificate.SerialNumber) -> String {
        let bytes = serial.bytes.drop { $0 == 0 }
        let digits = Array("0123456789abcdef".utf8)
        let padding = [UInt8](repeating: UInt8(ascii: "0"), count: 2 * max(0, 16 - bytes.count))
        return String(
            decoding: padding + bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Parses the form of ``hexadecimal(_:)``, also in capitals or without leading zeros, as OpenSSL writes it.
    static func bytes(_ hexadecimal: String) throws(AuthorityError) -> [UInt8] {
        let text = hexadecimal.utf8.count.isMultiple(of: 2) ? hexadecimal : "0" + hexadecimal
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = character - UInt8(ascii: "A") + 10
            default: throw .invalidSerial
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard (1...20).contains(bytes.count), bytes.contains(where: { $0 != 0 }) else { throw .invalidSerial }
        return bytes
    }
}
