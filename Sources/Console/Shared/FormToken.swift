import Crypto
import Encoding
import Foundation

/// Shows that a form was made by this service: for one certificate, one path and one subject, for an hour.
///
/// A browser sends a client certificate with every request, also with one that another site starts. Such a site cannot
/// read a token. A token is stateless: time ‖ code over time, certificate, path and subject.
struct FormToken: Sendable {
    /// The key of all nodes.
    private let key: SymmetricKey
    /// The keys of a rotation, which only verify.
    private let others: [SymmetricKey]
    private let thumbprint: Digest256

    /// Seconds for which a token is valid.
    static let lifetime: TimeInterval = 3600
    /// Seconds by which the clock of the node that made it may be ahead.
    static let tolerance: TimeInterval = 60
    /// Bytes: 8 time, 32 code.
    private static let length = 40

    /// - Parameter thumbprint: that of the connection's certificate.
    init(key: SymmetricKey, others: [SymmetricKey] = [], thumbprint: Digest256) {
        self.key = key
        self.others = others
        self.thumbprint = thumbprint
    }
}

extension FormToken {
    /// A token for a form.
    ///
    /// - Parameters:
    ///   - path: the path that the form is sent to.
    ///   - subject: the id of what the action changes; empty if there is none.
    func issue(for path: String, subject: String, at now: Date) -> String {
        let time = Self.bytes(of: now)
        return Base64URL.encode(time + code(time, path, subject))
    }

    /// Whether a text is a token for a form, and has not expired.
    func accepts(_ text: String, for path: String, subject: String, at now: Date) -> Bool {
        guard text.utf8.count == 54, let bytes = Base64URL.decode(text), bytes.count == Self.length,
            ([key] + others).contains(where: { key in
                HMAC<SHA256>.isValidAuthenticationCode(
                    bytes[8...], authenticating: message(Array(bytes[..<8]), path, subject), using: key)
            })
        else { return false }
        let seconds = bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let age = now.timeIntervalSince1970 - TimeInterval(seconds)
        return age >= -Self.tolerance && age < Self.lifetime
    }

    private static func bytes(of time: Date) -> [UInt8] {
        let seconds = UInt64(max(0, time.timeIntervalSince1970))
        return withUnsafeBytes(of: seconds.bigEndian) { Array($0) }
    }

    private func code(_ time: [UInt8], _ path: String, _ subject: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message(time, path, subject), using: key))
    }

    /// The length of the path comes first, so that path and subject cannot be divided differently.
    private func message(_ time: [UInt8], _ path: String, _ subject: String) -> [UInt8] {
        let length = withUnsafeBytes(of: UInt64(path.utf8.count).bigEndian) { Array($0) }
        return time + thumbprint.bytes + length + Array(path.utf8) + Array(subject.utf8)
    }
}
