import Domain
import Foundation
import HTTPTypes
import Synchronization

/// The ids of one connection's requests: an identifier of the connection, of which the last 48 bits count its requests.
/// They say nothing of other connections, and none costs a system call.
final class RequestIDs: Sendable {
    /// Under which the HTTP library looks for an id in a request's log.
    static let key = "hb.request.id"

    /// 24 ASCII characters.
    private let prefix: [UInt8]
    private let count = Atomic<UInt64>(0)

    /// - Parameter id: a random identifier of this connection alone.
    init(of id: UUID) {
        prefix = Array(ConnectionID(id).description.utf8.prefix(24))
    }

    /// The ids of requests that no listener accepted. The HTTP library cannot do without one.
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
    /// The id in an answer. It is never the same again: no table of a connection is to keep it (RFC 7541 §6.2.2).
    static func requestID(_ id: String) -> HTTPField {
        var field = HTTPField(name: requestIDName, value: id)
        field.indexingStrategy = .avoid
        return field
    }

    private static let requestIDName = HTTPField.Name.known("X-Request-ID")
}
