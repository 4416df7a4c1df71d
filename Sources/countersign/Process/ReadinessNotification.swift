import Foundation
import Glibc

/// The readiness notification for a systemd unit with `Type=notify` (sd_notify(3)). Without systemd it does nothing.
enum ReadinessNotification {
    /// Sends `READY=1` in one datagram to the socket that `NOTIFY_SOCKET` names.
    ///
    /// - Parameter socket: a path, or an abstract name after `@`.
    /// - Returns: whether it was delivered.
    @discardableResult
    static func send(to socket: String? = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"]) -> Bool {
        guard let socket, let first = socket.utf8.first else { return false }
        var address = sockaddr_un()
        var name = Array(socket.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        if first == UInt8(ascii: "@") { name[0] = 0 }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let message = Array("READY=1".utf8)
        let sent = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, 0, $0, length)
            }
        }
        return sent == message.count
    }
}
