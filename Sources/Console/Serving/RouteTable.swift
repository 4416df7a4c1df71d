import Encoding

/// Finds the route of a path, byte by byte. No path has two spellings: an empty segment or a slash at the end has no
/// route.
struct RouteTable: Sendable {
    enum Finding: Sendable {
        /// The segments in place of the placeholders, percent-decoded.
        case route(ConsoleRoute, segments: [String])
        /// The path has a route of the other kind only.
        case otherKind
        case nowhere
    }

    private struct Entry: Sendable {
        let route: ConsoleRoute
        /// The segments of the template, `nil` for each placeholder.
        let parts: [Substring?]

        func fits(_ path: [Substring]) -> Bool {
            parts.count == path.count
                && zip(parts, path).allSatisfy { part, given in part?.hasSameBytes(as: given) ?? true }
        }
    }

    private let entries: [Entry]

    init(_ routes: [ConsoleRoute]) {
        // A fixed segment is tried before a placeholder: `/bans/new` before `/bans/{}`.
        entries = routes.map { route in
            Entry(route: route, parts: Self.split(Substring(route.path.description)).map { $0 == "{}" ? nil : $0 })
        }.sorted { Self.firstPlaceholder($0) > Self.firstPlaceholder($1) }
    }

    private static func firstPlaceholder(_ entry: Entry) -> Int { entry.parts.firstIndex(of: nil) ?? .max }

    /// The longest value in a path, bytes.
    private static let longest = 256

    func find(_ kind: ConsoleRoute.Kind, _ path: Substring) -> Finding {
        guard path.utf8.first == UInt8(ascii: "/") else { return .nowhere }
        let parts = Self.split(path)
        let fitting = entries.filter { $0.fits(parts) }
        guard let best = fitting.first else { return .nowhere }
        let same = fitting.filter { $0.parts == best.parts }
        guard let entry = same.first(where: { $0.route.kind == kind }) else { return .otherKind }
        var segments: [String] = []
        for (part, given) in zip(entry.parts, parts) where part == nil {
            guard let text = Self.text(given) else { return .nowhere }
            segments.append(text)
        }
        return .route(entry.route, segments: segments)
    }

    private static func split(_ path: Substring) -> [Substring] {
        path.dropFirst().utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
    }

    private static func text(_ given: Substring) -> String? {
        guard (1...longest).contains(given.utf8.count), let bytes = PercentEncoding.decode(given.utf8),
            let text = String(validating: bytes, as: UTF8.self), text.isStreamSafe, text.hasNoControls
        else { return nil }
        return text
    }
}

extension String {
    /// Whether it has no control character except tab and line breaks, which a field for several lines may have.
    var hasNoControls: Bool {
        utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    }
}
