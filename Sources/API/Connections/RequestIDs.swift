import HTTPTypes
import Synchronization

/// The ids of one connection's requests, in the form of a UUID of version 8 (RFC 9562 §5.8): random bits of the
/// connection, and a count of its requests. They say nothing of other connections, and none costs a system call.
final class RequestIDs: Sendable {
    /// Under which the HTTP library looks for an id in a request's log.
    static let key = "hb.request.id"

    /// 24 ASCII characters.
    private let prefix: [UInt8]
    private let count = Atomic<UInt64>(0)

    /// - Parameter random: the bits of the connection; those of version and variant are left out (RFC 9562 §4).
    init(random: (UInt64, UInt64) = (.random(in: .min ... .max), .random(in: .min ... .max))) {
        let (first, second) = (Self.digits(random.0), Self.digits(random.1))
        let variant = Self.digit(8 | random.1 >> 62)
        let dash = [UInt8(ascii: "-")]
        prefix =
            first[0..<8] + dash + first[8..<12] + dash + [UInt8(ascii: "8")] + first[12..<15] + dash + [variant]
            + second[13..<16] + dash
    }

    /// The id of the next request, 36 characters.
    func next() -> String {
        let count = count.wrappingAdd(1, ordering: .relaxed).newValue
        return String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for byte in prefix {
                text[place] = byte
                place += 1
            }
            var shift: UInt64 = 48
            while shift > 0 {
                shift -= 4
                text[place] = Self.digit(count >> shift)
                place += 1
            }
            return place
        }
    }

    /// The last four bits as a hexadecimal digit.
    private static func digit(_ value: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value & 0x0F)
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }

    private static func digits(_ value: UInt64) -> [UInt8] { (1...16).map { digit(value >> UInt64(64 - 4 * $0)) } }
}

extension HTTPField {
    /// The id in an answer. It is never the same again: no table of a connection is to keep it (RFC 7541 §6.2.2).
    static func requestID(_ id: String) -> HTTPField {
        var field = HTTPField(name: requestIDName, value: id)
        field.indexingStrategy = .avoid
        return field
    }

    private static let requestIDName = HTTPField.Name.known("X-Request-ID")
}
