import Foundation

/// Ports for servers that tests start at a port of their own, and start again there.
package enum FreePort {
    /// Below the ports that the kernel gives to clients, so that no connection takes one while its server is away.
    private static let range: Range<UInt16> = 10_000..<32_000

    package struct None: Error {}

    /// A port of 127.0.0.1 that nobody has at the moment.
    package static func next() throws -> UInt16 {
        for _ in 0..<1000 {
            let port = UInt16.random(in: range)
            if isFree(port) { return port }
        }
        throw None()
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
