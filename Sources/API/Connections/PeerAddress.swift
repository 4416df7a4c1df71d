import Encoding
import NIOCore

extension IPAddress {
    /// The address of a socket; `nil` if it is not an IP address.
    init?(_ address: SocketAddress?) {
        guard let text = address?.ipAddress, let address = IPAddress(text) else { return nil }
        self = address
    }

    /// The key for limits by sender. All senders without an IP address share one.
    static func limitKey(_ address: IPAddress?) -> String { address?.limitKey ?? "local" }
}
