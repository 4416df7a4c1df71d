/// Who waits in line with whom: a crowd on one lane does not hold up another.
package enum Lane: Sendable, CaseIterable {
    /// What requests and background work do.
    case usual
    /// Bans and what administrators do, which must go through while requests have the store saturated.
    case administration
}

/// How many connections each lane of a store on a server has at most. One more watches for
/// changes, and up to ``Heartbeat/mostUnderWay`` commit heartbeats.
package struct LaneSizes: Sendable, Equatable {
    package var reads = 4
    package var writes = 8
    /// Reads and writes of ``Lane/administration`` together.
    package var administration = 2

    package init() {}
}

extension LaneSizes {
    /// The settings by which an address gives them, which libpq does not know.
    private static var settings: [(name: String, size: WritableKeyPath<LaneSizes, Int>)] {
        [
            ("read_connections", \.reads), ("write_connections", \.writes),
            ("administration_connections", \.administration),
        ]
    }

    /// Takes the sizes out of an address, and leaves the rest to libpq.
    ///
    /// - Throws: `StoreError.url` for a size that is none.
    static func take(from uri: String) throws(StoreError) -> (sizes: LaneSizes, rest: String) {
        var (sizes, rest) = (LaneSizes(), [String]())
        let parts = uri.split(separator: "&", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            // The first setting stands behind the address itself.
            let start = index > 0 ? part.startIndex : part.lastIndex(of: "?").map(part.index(after:)) ?? part.endIndex
            guard let setting = settings.first(where: { part[start...].hasPrefix($0.name + "=") }) else {
                rest.append(String(part))
                continue
            }
            let value = part[start...].dropFirst(setting.name.count + 1)
            guard let size = Int(value), (1...1000).contains(size) else {
                throw .url(reason: "\(setting.name) is a number from 1 to 1000")
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
