import Domain
import Encoding
import Repositories

/// Which streams are listed, and from where.
package struct MessageStreamFilter: Sendable {
    let kind: MessageStream.Kind?
    let member: AuthorizationAddress?
    let metadata: [Metadata]
    let cursor: MessageStreamCursor?

    /// An indexed value that the metadata must have.
    struct Metadata: Sendable, Equatable {
        let isShared: Bool
        let name: String
        let value: String
    }

    /// The beginnings of the parameters for values in the metadata that all members see, and in the user's own.
    package static let parameters = (shared: "metadata.shared.", own: "metadata.private.")

    var isOfForums: Bool { kind == .forum }

    /// Parses a filter; `nil` means no restriction.
    ///
    /// - Parameters:
    ///   - metadata: values by the names of their parameters.
    ///   - indexed: the names that the policy declares.
    /// - Throws: `Refusal` `malformed_request`.
    package init(
        kind: String?, cursor: String?, member: String? = nil, metadata: [(parameter: String, value: String)] = [],
        indexed: [String] = []
    ) throws(Refusal) {
        self.kind = try kind.map { text throws(Refusal) in
            guard let kind = MessageStream.Kind(rawValue: text) else {
                throw Refusal.unknownChoice(of: "kind", MessageStream.Kind.self)
            }
            return kind
        }
        self.member = try member.map { text throws(Refusal) in
            guard let address = try? AuthorizationAddress(text) else { throw Refusal.unreadableFilterMember }
            return address
        }
        guard metadata.count <= MessageStreamPolicy.maximumIndexedMetadata else {
            throw Refusal.tooManyMetadataValues(allowed: MessageStreamPolicy.maximumIndexedMetadata)
        }
        self.metadata = try metadata.map { one throws(Refusal) in try Self.value(one, indexed) }
        let isOfForums = self.kind == .forum
        guard !isOfForums || self.member == nil && self.metadata.allSatisfy(\.isShared) else {
            throw Refusal.filterOfForums
        }
        self.cursor = try cursor.map { text throws(Refusal) in
            guard let cursor = MessageStreamCursor(text), cursor.isOfForums == isOfForums else {
                throw Refusal.unknownCursor
            }
            return cursor
        }
    }

    private static func value(
        _ given: (parameter: String, value: String), _ indexed: [String]
    ) throws(Refusal) -> Metadata {
        let isShared = given.parameter.utf8.starts(with: parameters.shared.utf8)
        let name = given.parameter.dropFirst((isShared ? parameters.shared : parameters.own).count)
        guard indexed.contains(where: { $0.hasSameBytes(as: name) }) else {
            throw Refusal.metadataNotIndexed(given.parameter.prefix(96), declared: indexed)
        }
        guard given.value.utf8.count <= StreamMetadata.longestIndexed else {
            throw Refusal.metadataValueTooLong(given.parameter)
        }
        return Metadata(isShared: isShared, name: String(name), value: given.value)
    }
}

/// A position in a list of streams.
///
/// A stream moves to the beginning when it gets a message. If that happens between two pages, it is on none of the
/// following. So a cursor has the anchor, the beginning of the list at its first page. The list ends with the streams
/// that changed after the anchor.
struct MessageStreamCursor: Sendable, Equatable {
    enum Part: Sendable, Equatable {
        /// Before a position, with the anchor.
        case listed(before: StreamListRepository.Mark, anchor: Int64)
        /// After the anchor or a later position.
        case changed(after: StreamListRepository.Mark)
    }

    let isOfForums: Bool
    let part: Part

    init(isOfForums: Bool, _ part: Part) { (self.isOfForums, self.part) = (isOfForums, part) }

    /// `nil` for a text that was not returned as a cursor.
    init?(_ text: String) {
        guard text.utf8.count <= 128, let bytes = Base64URL.decode(text) else { return nil }
        var words = String(decoding: bytes, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)[...]
        switch words.popFirst() {
        case "own": isOfForums = false
        case "forums": isOfForums = true
        default: return nil
        }
        guard let number = words.popFirst().flatMap(Self.number) else { return nil }
        var forum: MessageStreamID?
        if isOfForums, let word = words.popFirst() {
            guard let id = MessageStreamID(word) else { return nil }
            forum = id
        }
        let mark = StreamListRepository.Mark(number: number, forum: forum)
        guard let last = words.popFirst() else {
            part = .changed(after: mark)
            return
        }
        guard let anchor = Self.number(last), words.isEmpty else { return nil }
        part = .listed(before: mark, anchor: anchor)
    }

    private static func number(_ text: Substring) -> Int64? {
        guard let number = Int64(text), (0..<1 << 52).contains(number) else { return nil }
        return number
    }

    var text: String {
        let (mark, anchor): (StreamListRepository.Mark, Int64?) =
            switch part {
            case .listed(let mark, let anchor): (mark, anchor)
            case .changed(let mark): (mark, nil)
            }
        let words =
            [isOfForums ? "forums" : "own", "\(mark.number)"]
            + [mark.forum.map { "\($0)" }, anchor.map { "\($0)" }].compactMap(\.self)
        return Base64URL.encode(Array(words.joined(separator: " ").utf8))
    }
}
