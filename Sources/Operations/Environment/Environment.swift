import Domain
import Encoding
import Foundation

/// The non-deterministic inputs of the service: the time and random bytes.
package struct Environment: Sendable {
    package let now: @Sendable () -> Date
    /// Returns that many bytes from a cryptographic generator.
    package let randomBytes: @Sendable (Int) -> [UInt8]

    /// The defaults are the system's clock and generator.
    package init(
        now: @escaping @Sendable () -> Date = { Date() },
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = Environment.systemBytes
    ) {
        self.now = now
        self.randomBytes = randomBytes
    }

    /// Bytes of the kernel's generator. One call gives up to 256, where the standard library's generator gives eight.
    package static func systemBytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let isFilled = bytes.withUnsafeMutableBytes { $0.count <= 256 && getentropy($0.baseAddress, $0.count) == 0 }
        if isFilled { return bytes }
        var generator = SystemRandomNumberGenerator()
        for index in bytes.indices { bytes[index] = .random(in: .min ... .max, using: &generator) }
        return bytes
    }

    /// A new random identifier (RFC 9562 version 4).
    func newIdentifier<Kind>() -> Identifier<Kind> {
        Identifier(newUUID())
    }

    /// A new identifier that begins with the time (RFC 9562 version 7), so that rows created together are stored
    /// together. Only for identifiers whose readers may know the time of creation.
    func newOrderedIdentifier<Kind>() -> Identifier<Kind> {
        var bytes = withUnsafeBytes(of: UInt64(clamping: now().milliseconds).bigEndian) { Array($0.dropFirst(2)) }
        bytes += randomBytes(10)
        bytes[6] = bytes[6] & 0x0F | 0x70
        bytes[8] = bytes[8] & 0x3F | 0x80
        return Identifier(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    }

    /// A new random UUID (RFC 9562 version 4).
    func newUUID() -> UUID {
        var bytes = randomBytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

/// Whether the policy's rate limits are enforced. Rules such as the checks of one code are no rate limits and always
/// apply.
package enum RateLimiting: String, Sendable {
    case on
    case off
}
