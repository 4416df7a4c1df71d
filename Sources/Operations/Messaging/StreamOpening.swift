import Domain
import Encoding

/// The request that opens a stream. It is stored, sealed: a repeated request is compared with it, and title and
/// description are read from it.
package struct StreamOpening: Sendable, Confidential {
    let id: MessageStreamID
    let kind: MessageStream.Kind
    let members: [AuthorizationAddress]
    let title: String?
    let about: String?
    let imageURL: String?
    let metadata: StreamMetadata

    /// Parses a request.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    package init(
        id: String, kind: String, members: JSONValue?, title: String?, description: String?, imageURL: String?,
        metadata: JSONValue?
    ) throws(Refusal) {
        guard let id = MessageStreamID(id[...]) else { throw Refusal.notUUID(.newID) }
        guard let kind = MessageStream.Kind(rawValue: kind) else {
            throw Refusal.unknownStreamKind
        }
        (self.id, self.kind) = (id, kind)
        self.members = try Self.members(members, of: kind)
        if let title { try PlainText.require(title, about: .title, bytes: 1...255, for: .prose) }
        if let description {
            try PlainText.require(description, about: .streamDescription, bytes: 1...4096, for: .note)
        }
        if let imageURL {
            try PlainText.require(imageURL, about: .streamImage, bytes: 9...2048, for: .identifier)
            guard imageURL.hasPrefix("https://") else {
                throw Refusal.insecureStreamImage
            }
        }
        (self.title, about, self.imageURL) = (title, description, imageURL)
        self.metadata =
            try metadata.map { value throws(Refusal) in
                try StreamMetadata(value, about: .streamMetadata, within: .stream)
            } ?? .empty
    }

    private static func members(
        _ value: JSONValue?, of kind: MessageStream.Kind
    ) throws(Refusal) -> [AuthorizationAddress] {
        let counts: ClosedRange<Int> =
            switch kind {
            case .direct, .call: 1...1
            case .conversation: 0...MessageStream.maximumMembers - 1
            case .forum: 0...0
            }
        guard case .array(let values) = value ?? .array([]), counts.contains(values.count) else {
            throw Refusal.wrongNumberOfMembers
        }
        var members: [AuthorizationAddress] = []
        for value in values {
            guard let text = value.text, let address = try? AuthorizationAddress(text) else {
                throw Refusal.unreadableMember
            }
            members.append(address)
        }
        return members
    }

    /// The form in the store: equal requests have equal texts.
    var json: JSONValue {
        .object([
            "kind": .string(kind.rawValue), "members": .array(members.map(\.text).sorted().map { .string($0) }),
            "title": title.map { .string($0) }, "description": about.map { .string($0) },
            "image_url": imageURL.map { .string($0) }, "metadata": metadata.value,
        ])
    }
}
