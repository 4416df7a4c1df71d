import Crypto
import Encoding
import Foundation
import PhoneNumbers
import Synchronization

/// The digits in a text that the user types. Only the code that sends and the code that compares can read them.
package struct PhoneCode: Sendable {
    package let digits: Secret<String>
}

package extension PhoneCode {
    /// A code as a user typed or pasted it: digits of any script, in groups or not.
    struct Submitted: Sendable {
        fileprivate let digits: String

        package init(_ text: String) { digits = TypedDigits.folded(text) }
    }

    /// The code of a test number in development mode: zeros. +1 202 555 0100 to 0199 belong to nobody (ATIS-0300115).
    ///
    /// - Returns: `nil` for any other number.
    static func ofTestNumber(_ e164: String, digits: Int) -> PhoneCode? {
        guard e164.utf8.count == 12, e164.hasPrefix("+120255501"), e164.utf8.suffix(2).allSatisfy(\.isASCIIDigit) else {
            return nil
        }
        return PhoneCode(digits: Secret(String(repeating: "0", count: max(1, digits))))
    }

    /// Whether a submitted code matches; the time depends on the number of characters alone.
    func matches(_ shown: Submitted) -> Bool {
        constantTimeEqual(Array(digits.reveal().utf8), Array(shown.digits.utf8))
    }
}

extension UInt8 {
    fileprivate var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
}

/// The keys that codes are derived from, by version. All nodes of a service have the same keys.
///
/// A code is derived when it is sent and again when it is compared. It is never stored. A verification stores the
/// version, so codes that were already sent stay valid under a new key. A node that reads an unknown version reloads
/// its keys, because another node may already have the version.
package struct PhoneCodeKeys: Sendable {
    private final class Holder: Sendable {
        let keys: Mutex<[Int: SymmetricKey]>
        init(_ keys: [Int: SymmetricKey]) { self.keys = Mutex(keys) }
    }

    private let holder: Holder
    private let readAgain: (@Sendable () throws -> Secrets)?
}

package extension PhoneCodeKeys {
    /// The secrets in `Keys/` by version.
    typealias Secrets = [Int: Secret<[UInt8]>]

    /// `nil` if there are no secrets.
    ///
    /// - Parameter readAgain: returns the current secrets; `nil` if they never change.
    init?(_ secrets: Secrets, readAgain: (@Sendable () throws -> Secrets)? = nil) {
        guard !secrets.isEmpty else { return nil }
        holder = Holder(secrets.mapValues { SymmetricKey(data: $0.reveal()) })
        self.readAgain = readAgain
    }

    /// Reloads the secrets. Copies of this value share the result.
    ///
    /// - Throws: what reading throws; the keys then stay unchanged.
    func reload() throws {
        guard let secrets = try readAgain?(), !secrets.isEmpty else { return }
        let keys = secrets.mapValues { SymmetricKey(data: $0.reveal()) }
        holder.keys.withLock { $0 = keys }
    }

    private var keys: [Int: SymmetricKey] { holder.keys.withLock { $0 } }

    /// The version for new verifications: the highest.
    var currentVersion: Int { keys.keys.max() ?? 1 }

    /// The digests by which nodes compare their keys.
    var fingerprints: [Int: Digest256] {
        Dictionary(
            uniqueKeysWithValues: keys.map {
                ($0.key, NodeFingerprints.digest(of: $0.value, .phoneCodeKeys, version: $0.key))
            })
    }

    private func key(_ version: Int) -> SymmetricKey? {
        if let key = keys[version] { return key }
        try? reload()
        return keys[version]
    }

    /// The code of a verification for a number; `nil` if its key is missing.
    ///
    /// HMAC-SHA-256 (RFC 2104) over a label, then version, verification, user and device in fixed lengths, then the
    /// number. The value has four 64-bit words. The code is the first word below the largest multiple of 10^digits,
    /// modulo 10^digits, so each code is exactly as likely as any other. Without the rejection the bias would be
    /// 10^6/2^64. All four words are rejected with a probability below 2^-160; then the last is taken.
    func code(
        version: Int, verification: PhoneVerificationID, user: UserID, device: DeviceID, e164: String, digits: Int
    ) -> PhoneCode? {
        guard let key = key(version) else { return nil }
        var hmac = HMAC<SHA256>(key: key)
        hmac.update(data: Array("countersign phone code\0".utf8))
        withUnsafeBytes(of: Int64(version).bigEndian) { hmac.update(data: $0) }
        for uuid in [verification.uuid, user.uuid, device.uuid] {
            withUnsafeBytes(of: uuid.uuid) { hmac.update(data: $0) }
        }
        hmac.update(data: Array(e164.utf8))
        return Self.reduce(Array(hmac.finalize()), digits: digits)
    }

    private static func reduce(_ bytes: [UInt8], digits: Int) -> PhoneCode {
        let modulus = (0..<digits).reduce(UInt64(1)) { power, _ in power * 10 }
        let bound = UInt64.max / modulus * modulus
        var value: UInt64 = 0
        for start in stride(from: 0, to: bytes.count, by: 8) {
            value = bytes[start..<(start + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if value < bound { break }
        }
        let text = String(value % modulus)
        return PhoneCode(digits: Secret(String(repeating: "0", count: digits - text.utf8.count) + text))
    }
}
