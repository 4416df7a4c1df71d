/// A queue for transactions, with its own connections: a crowd in one lane does not delay the other.
package enum Lane: Sendable, CaseIterable {
    /// The lane of requests and background work.
    case usual
    /// Bans and administration, which must succeed while requests saturate the store.
    case administration
    /// Pages of the admin console. They only read, and a statement that takes longer than 2 s is given up.
    case console
}

/// The maximum number of connections of each lane of a server. There is one more for changes, and up to
/// ``Heartbeat/mostUnderWay`` for heartbeats.
package struct LaneSizes: Sendable, Equatable {
    package var reads = 4
    package var writes = 8
    /// Reads and writes of ``Lane/administration`` share them.
    package var administration = 2
    /// Only pages of the console read by them.
    package var console = 2

    package init() {}
}

extension LaneSizes {
    /// The settings in an address that set the sizes. libpq does not know them.
    private static var settings: [(name: String, size: WritableKeyPath<LaneSizes, Int>)] {
        [
            ("read_connections", \.reads), ("write_connections", \.writes),
            ("administration_connections", \.administration), ("console_connections", \.console),
        ]
    }

    /// Removes the sizes from an address, and leaves the rest to libpq.
    ///
    /// - Throws: `StoreError.url` for an invalid size.
    static func take(from uri: String) throws(StoreError) -> (sizes: LaneSizes, rest: String) {
        var (sizes, rest) = (LaneSizes(), [String]())
        let parts = uri.split(separator: "&", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            // The first setting follows the address itself.
            let start = index > 0 ? part.startIndex : part.lastIndex(of: "?").map(part.index(after:)) ?? part.endIndex
            guard let setting = settings.first(where: { part[start...].hasPrefix($0.name + "=") }) else {
                rest.append(String(part))
                continue
            }
            let value = part[start...].dropFirst(setting.name.count + 1)
            guard let size = Int(value), (1...1000).contains(size) else {
                throw .url(reason: "\(setting.name) must be a number from 1 to 1000")
            }
            sizes[keyPath: setting.size] = size
            if index == 0 { rest.append(String(part[..<start])) }
        }
        guard let first = rest.first else { return (sizes, uri) }
        let others = rest.dropFirst().joined(separator: "&")
        let joint = first.hasSuffix("?") || others.isEmpty ? "" : "&"
        return (sizes, first + joint + others)
    }
}
