import Foundation
import HTTPTypes

/// Streams of messages between users.
public struct Streams: Sendable {
    let client: Countersign

    public struct Page: Sendable, Hashable, Decodable {
        /// The most recently changed first.
        public let streams: [MessageStream]
        /// For the next page; `nil` on the last page.
        public let cursor: String?
    }

    public struct Messages: Sendable, Hashable, Decodable {
        public let messages: [StreamMessage]
        /// Whether there are more in the direction of reading.
        public let hasMore: Bool
        /// The number of the last message that the user may see.
        public let lastSequence: Int64
        private let named: [PublicProfile]?

        /// What the senders of these messages show, each once.
        public var profiles: [PublicProfile] { named ?? [] }

        private enum CodingKeys: String, CodingKey {
            case named = "profiles"
            case messages = "events"
            case hasMore = "more"
            case lastSequence = "last_sequence"
        }
    }

    /// The user's progress in a stream. Both numbers only rise.
    public struct Receipts: Sendable, Hashable, Codable {
        public let deliveredThrough: Int64
        public let readThrough: Int64

        private enum CodingKeys: String, CodingKey {
            case deliveredThrough = "delivered_through"
            case readThrough = "read_through"
        }
    }

    public enum Visibility: Sendable, Hashable {
        /// Metadata that all members see.
        case shared
        /// Metadata that only the user sees, on every device.
        case own

        fileprivate var path: String { self == .shared ? "metadata" : "metadata/private" }
    }

    /// Opens a stream.
    ///
    /// - Throws: `conflict` if the user lacks a permission for a member, or the id belongs to another opening.
    public func open(_ opening: StreamOpening) async throws(Refusal) {
        try await client.send(Call(.post, "/streams", body: opening))
    }

    /// Reads a page of the user's streams, or of forums.
    ///
    /// - Parameters:
    ///   - member: only streams with this user, by user id or address.
    ///   - metadata: only streams whose shared metadata has these values. The operator declares the names.
    ///   - privateMetadata: the same for the user's private metadata.
    ///   - cursor: from the previous page. The last pages may have streams again that changed in the meantime.
    public func list(
        _ kind: MessageStream.Kind? = nil, member: String? = nil, metadata: [String: String] = [:],
        privateMetadata: [String: String] = [:], cursor: String? = nil
    ) async throws(Refusal) -> Page {
        var query = [("kind", kind?.rawValue), ("member", member), ("cursor", cursor)]
        for (name, value) in metadata { query.append(("metadata.shared.\(name)", value)) }
        for (name, value) in privateMetadata { query.append(("metadata.private.\(name)", value)) }
        return try await client.perform(Call(.get, Self.path("/streams", query)))
    }

    /// Reads a stream with its metadata.
    public func show(_ stream: UUID) async throws(Refusal) -> MessageStream {
        try await client.perform(Call(.get, "/streams/\(stream.path)"))
    }

    /// Deletes a stream for all members.
    public func delete(_ stream: UUID) async throws(Refusal) {
        try await client.send(Call(.delete, "/streams/\(stream.path)"))
    }

    // MARK: Messages

    /// Sends a message. Repeating it with the same id returns the same result.
    ///
    /// - Throws: `conflict` with state `closed` if the permission for a direct stream has ended.
    @discardableResult
    public func append(_ message: NewMessage, to stream: UUID) async throws(Refusal) -> SentMessage {
        try await client.perform(Call(.post, "/streams/\(stream.path)/events", body: message))
    }

    /// Reads the messages after a number, oldest first.
    public func messages(
        in stream: UUID, after sequence: Int64, limit: Int = 100
    ) async throws(Refusal) -> Messages {
        try await read(stream, ("after", "\(sequence)"), limit)
    }

    /// Reads the messages before a number, newest first.
    ///
    /// - Parameter sequence: `nil` for the newest.
    public func messages(
        in stream: UUID, before sequence: Int64?, limit: Int = 100
    ) async throws(Refusal) -> Messages {
        try await read(stream, ("before", sequence.map { "\($0)" }), limit)
    }

    private func read(
        _ stream: UUID, _ range: (String, String?), _ limit: Int
    ) async throws(Refusal) -> Messages {
        try await client.perform(
            Call(.get, Self.path("/streams/\(stream.path)/events", [range, ("limit", "\(limit)")])))
    }

    /// Every message after a number, and then each new one as it arrives.
    ///
    /// - Parameter pause: the interval for polling a forum, which devices are not notified of; `nil` for the user's
    ///   streams.
    public func events(
        of stream: UUID, after sequence: Int64 = 0, every pause: Duration? = nil
    ) -> StreamEvents {
        StreamEvents(streams: self, stream: stream, after: sequence, pause: pause)
    }

    /// Deletes a message for all members.
    public func delete(_ message: UUID, in stream: UUID) async throws(Refusal) {
        try await client.send(Call(.delete, "/streams/\(stream.path)/events/\(message.path)"))
    }

    /// Deletes a message for the user only, on all of the user's devices. Other members keep it.
    public func deleteForMe(_ message: UUID, in stream: UUID) async throws(Refusal) {
        try await client.send(Call(.delete, "/streams/\(stream.path)/events/\(message.path)/copy"))
    }

    // MARK: Receipts, typing, members, metadata

    /// Reports the user's progress. Lower numbers change nothing.
    @discardableResult
    public func acknowledge(
        deliveredThrough: Int64? = nil, readThrough: Int64? = nil, in stream: UUID
    ) async throws(Refusal) -> Receipts {
        let report = ["delivered_through": deliveredThrough, "read_through": readThrough].compactMapValues(\.self)
        return try await client.perform(
            Call(.post, "/streams/\(stream.path)/receipts", body: report))
    }

    /// Reports that the user is writing, to members who wait in ``synchronize(since:wait:presenceOf:)``. Repeat it
    /// every three seconds while the user is writing.
    public func typing(in stream: UUID) async throws(Refusal) {
        try await client.send(Call(.post, "/streams/\(stream.path)/typing", isRepeatable: true))
    }

    /// Adds a user to a conversation.
    public func add(_ user: UUID, to stream: UUID) async throws(Refusal) {
        try await client.send(Call(.put, "/streams/\(stream.path)/members/\(user.path)"))
    }

    /// Removes a user, or leaves the stream with the own id.
    public func remove(_ user: UUID, from stream: UUID) async throws(Refusal) {
        try await client.send(Call(.delete, "/streams/\(stream.path)/members/\(user.path)"))
    }

    @discardableResult
    public func set(
        _ metadata: MetadataValue, _ visibility: Visibility = .shared, of stream: UUID
    ) async throws(Refusal) -> MetadataValue {
        try await change(["set": metadata], visibility, of: stream.path)
    }

    /// Merges a patch (RFC 7396) into metadata.
    @discardableResult
    public func merge(
        _ patch: MetadataValue, _ visibility: Visibility = .shared, into stream: UUID
    ) async throws(Refusal) -> MetadataValue {
        try await change(["merge": patch], visibility, of: stream.path)
    }

    /// Replaces the metadata of a message. All members see shared metadata.
    @discardableResult
    public func set(
        _ metadata: MetadataValue, _ visibility: Visibility = .shared, of message: UUID, in stream: UUID
    ) async throws(Refusal) -> MetadataValue {
        try await change(["set": metadata], visibility, of: "\(stream.path)/events/\(message.path)")
    }

    /// Merges a patch (RFC 7396) into the metadata of a message. Patches of several devices for different names all
    /// take effect.
    @discardableResult
    public func merge(
        _ patch: MetadataValue, _ visibility: Visibility = .shared, into message: UUID, in stream: UUID
    ) async throws(Refusal) -> MetadataValue {
        try await change(["merge": patch], visibility, of: "\(stream.path)/events/\(message.path)")
    }

    private func change(
        _ change: [String: MetadataValue], _ visibility: Visibility, of place: String
    ) async throws(Refusal) -> MetadataValue {
        let answer: [String: MetadataValue] = try await client.perform(
            Call(.patch, "/streams/\(place)/\(visibility.path)", body: change))
        return answer.values.first ?? .object([:])
    }

    static func path(_ path: String, _ query: [(String, String?)]) -> String {
        let parts = query.compactMap { name, value in
            value.map { "\(name)=\($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
        }
        return parts.isEmpty ? path : path + "?" + parts.joined(separator: "&")
    }
}

extension Countersign {
    /// Streams of messages with other users.
    public nonisolated var streams: Streams { Streams(client: self) }
}
