import Domain
import Foundation
import HTTPTypes
import Synchronization

/// The ids of one connection's requests: an identifier of the connection whose last 48 bits number the requests. They
/// reveal nothing about other connections, and cost no system call.
final class RequestIDs: Sendable {
    /// The metadata key under which the HTTP library looks for the id of a request.
    static let key = "hb.request.id"

    /// The first 24 characters in ASCII.
    private let prefix: [UInt8]
    private let count = Atomic<UInt64>(0)

    /// - Parameter id: a random identifier that only this connection has.
    init(of id: UUID) {
        prefix = Array(ConnectionID(id).description.utf8.prefix(24))
    }

    /// The ids of requests without a listener's connection. The HTTP library requires one.
    static let ofNoConnection = RequestIDs()

    private init() {
        prefix = Array("00000000-0000-8000-8000-".utf8)
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
}

extension HTTPField {
    /// The header field with a request's id. Each id is unique, so the field is not indexed (RFC 7541 §6.2.2).
    static func requestID(_ id: String) -> HTTPField {
        var field = HTTPField(name: requestIDName, value: id)
        field.indexingStrategy = .avoid
        return field
    }

    private static let requestIDName = HTTPField.Name.known("X-Request-ID")
}
