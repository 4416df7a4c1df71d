import CountersignClient
import Foundation
import GRDB

/// A user's streams of messages, kept on the device. They are available without a connection, and what the user writes
/// meanwhile is sent later, exactly once.
///
/// Use one for each file. The file contains unencrypted messages, so keep it where the operating system protects it.
public actor LocalStreams {
    let database: DatabaseQueue
    let streams: Streams
    /// The user of these streams.
    public nonisolated let user: UUID
    private let commits = Readers<Void>()
    let typists = Readers<SyncPage.Typing>()
    let presences = Readers<UserPresence>()
    /// The users whose presence is shown, as the service last reported them.
    var watched: [UUID: UserPresence?] = [:]
    var publishing: Task<Result<Void, Refusal>, Never>?
    /// The number of tasks in ``run(onFailure:)``.
    var running = 0

    /// Opens the file, or creates it. Content of another user is deleted.
    ///
    /// - Parameters:
    ///   - file: `nil` to keep everything in memory.
    ///   - user: `userID` of the client's session.
    /// - Throws: `Refusal.storage`.
    public init(file: URL?, user: UUID, client: Countersign, now: Date = Date()) async throws(Refusal) {
        self.user = user
        streams = client.streams
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(5)
            // Deleted texts are overwritten in the file.
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA secure_delete = ON") }
            database =
                try file.map { try DatabaseQueue(path: $0.path, configuration: configuration) }
                ?? DatabaseQueue(configuration: configuration)
            try LocalSchema.migrate(database)
            try await database.write { try Reconciler($0, user).begin(at: now) }
        } catch {
            throw .storage(StorageFailure(database: error))
        }
    }

    /// An element for each commit that may have changed views.
    public nonisolated var changes: AsyncStream<Void> { commits.stream() }

    /// Members who are writing now, while ``run(onFailure:)`` runs.
    public nonisolated var typing: AsyncStream<SyncPage.Typing> { typists.stream() }

    /// Users of ``watchPresence(of:)`` who come online or go offline, while ``run(onFailure:)`` runs.
    public nonisolated var presence: AsyncStream<UserPresence> { presences.stream() }

    func write<T: Sendable>(_ body: @escaping @Sendable (Reconciler) throws -> T) async throws(Refusal) -> T {
        let user = user
        do {
            let result = try await database.write { try body(Reconciler($0, user)) }
            commits.send(())
            return result
        } catch {
            throw .storage(StorageFailure(database: error))
        }
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (Reconciler) throws -> T) async throws(Refusal) -> T {
        let user = user
        do {
            return try await database.read { try body(Reconciler($0, user)) }
        } catch {
            throw .storage(StorageFailure(database: error))
        }
    }

    /// Writes a change of the user, which the triggers record, and sends it if a synchronization is running.
    func change(_ body: @escaping @Sendable (Database) throws -> Void) async throws(Refusal) {
        try await write { try body($0.connection) }
        guard running > 0 else { return }
        Task { try? await publish() }
    }

    // MARK: Actions of the user

    /// Opens a stream, locally at once and at the service later.
    public func open(_ opening: StreamOpening, now: Date = Date()) async throws(Refusal) {
        let user = user
        try await change { connection in
            try connection.execute(
                sql: """
                    INSERT INTO conversations (stream_id, kind, state, created_by, created_at, changed_at, title, about,
                        image_url, metadata, private_metadata, read_through, last_sequence, opening)
                    VALUES (?, ?, 'opening', ?, ?, ?, ?, ?, ?, ?, '{}', 0, 0, ?)
                    ON CONFLICT (stream_id) DO NOTHING
                    """,
                arguments: [
                    opening.id.text, opening.kind.rawValue, user.text, now, now, opening.title, opening.about,
                    opening.imageURL, try Stored.text(opening.metadata ?? .object([:])), try Stored.text(opening),
                ])
        }
    }

    /// Sends a message, locally at once and to the service later.
    public func send(_ message: NewMessage, to stream: UUID, now: Date = Date()) async throws(Refusal) {
        let user = user
        try await change { connection in
            let head = try message.inReplyTo.flatMap { reply in
                try String.fetchOne(
                    connection,
                    sql: "SELECT coalesce(thread_id, message_id) FROM messages WHERE stream_id = ? AND message_id = ?",
                    arguments: [stream.text, reply.text])
            }
            try connection.execute(
                sql: """
                    INSERT INTO messages (stream_id, message_id, sender_id, sent_at, in_reply_to, thread_id, parts)
                    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (stream_id, message_id) DO NOTHING
                    """,
                arguments: [
                    stream.text, message.id.text, user.text, now, message.inReplyTo?.text, head,
                    try Stored.text(message.parts),
                ])
            try connection.execute(
                sql: "UPDATE conversations SET changed_at = max(changed_at, ?) WHERE stream_id = ?",
                arguments: [now, stream.text])
        }
    }

    /// Sends a refused message again.
    public func repeatMessage(_ message: UUID, in stream: UUID) async throws(Refusal) {
        try await change(
            "UPDATE messages SET refusal = NULL WHERE stream_id = ? AND message_id = ? AND refusal IS NOT NULL",
            [stream.text, message.text])
    }

    /// Deletes a message for all members. The sender and the stream's creator may do so. A refused deletion is reverted.
    public func delete(_ message: UUID, in stream: UUID) async throws(Refusal) {
        try await change(
            "UPDATE messages SET is_deleted = 1 WHERE stream_id = ? AND message_id = ? AND is_deleted = 0",
            [stream.text, message.text])
    }

    /// Deletes a message for the user only, on all of the user's devices. Other members keep it.
    public func deleteForMe(_ message: UUID, in stream: UUID) async throws(Refusal) {
        try await change(
            """
            UPDATE messages SET is_deleted = 1, is_deleted_for_user = 1
            WHERE stream_id = ? AND message_id = ? AND is_deleted = 0
            """, [stream.text, message.text])
    }

    /// Deletes a stream for all members.
    public func delete(_ stream: UUID) async throws(Refusal) {
        try await change(
            "UPDATE conversations SET state = 'deleted' WHERE stream_id = ? AND state <> 'deleted'", [stream.text])
    }

    /// Marks messages up to a number as read.
    ///
    /// - Parameter sequence: `nil` for all local messages. Lower numbers change nothing.
    public func markRead(_ stream: UUID, through sequence: Int64? = nil) async throws(Refusal) {
        try await change(
            """
            UPDATE conversations SET read_through = min(coalesce(?1, last_sequence), last_sequence)
            WHERE stream_id = ?2 AND read_through < min(coalesce(?1, last_sequence), last_sequence)
            """, [sequence, stream.text])
    }

    /// Changes metadata.
    ///
    /// - Parameter metadata: an object that replaces the shown one. Only differences are sent, so that other users'
    ///   changes of other names stay.
    public func set(
        _ metadata: MetadataValue, _ visibility: Streams.Visibility = .shared, of stream: UUID
    ) async throws(Refusal) {
        let column = visibility.column
        guard let text = try? Stored.text(metadata) else { throw .storage(.damaged) }
        try await change(
            "UPDATE conversations SET \(column) = ?1 WHERE stream_id = ?2 AND \(column) <> ?1", [text, stream.text])
    }

    /// Adds a user to a conversation.
    public func add(_ user: UUID, to stream: UUID) async throws(Refusal) {
        try await change(
            """
            INSERT INTO participants (stream_id, user_id, assurance, delivered_through, read_through, is_present)
            VALUES (?, ?, 'none', 0, 0, 1)
            ON CONFLICT (stream_id, user_id) DO UPDATE SET is_present = 1 WHERE is_present = 0
            """, [stream.text, user.text])
    }

    /// Removes a user, or leaves the stream with the own id.
    public func remove(_ user: UUID, from stream: UUID) async throws(Refusal) {
        try await change(
            "UPDATE participants SET is_present = 0 WHERE stream_id = ? AND user_id = ? AND is_present = 1",
            [stream.text, user.text])
    }

    /// Reports that the user is writing, to members who are synchronizing now.
    public func sayTyping(in stream: UUID) async throws(Refusal) { try await streams.typing(in: stream) }

    private func change(_ sql: String, _ arguments: StatementArguments) async throws(Refusal) {
        try await change { connection in try connection.execute(sql: sql, arguments: arguments) }
    }
}

extension StorageFailure {
    /// From SQLite's code, or from another failure of the file.
    init(database error: any Error) {
        guard let error = error as? DatabaseError else {
            self = .damaged
            return
        }
        self =
            switch error.resultCode {
            case .SQLITE_FULL: .full
            case .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_AUTH: .notPermitted
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: .damaged
            default: .failed(code: error.resultCode.rawValue)
            }
    }
}
