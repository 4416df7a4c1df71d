import CountersignClient
import CountersignSync
import Fixtures
import Foundation
import Testing

/// A user's device with the messages on it.
struct MessagingDevice: Sendable {
    let app: App
    let session: Session
    let local: LocalStreams

    var streams: Streams { app.client.streams }

    /// Certifies a device and signs a user in.
    init(_ live: LiveService, _ user: String, at service: Service? = nil) async throws {
        app = try App(service ?? live.service())
        try await app.client.certify()
        session = try await app.client.signIn(live.source(user))
        local = try await Self.local(app, session)
    }

    private static func local(_ app: App, _ session: Session) async throws -> LocalStreams {
        try await LocalStreams(
            file: URL(filePath: app.directory.file("streams.db")), user: session.userID, client: app.client)
    }

    /// The messages of a stream as the device shows them, the oldest first.
    func texts(_ stream: UUID) async throws -> [String] {
        try await local.messages(in: stream, limit: 1000).sections.flatMap(\.messages).reversed().map { message in
            "\(message.sequence ?? 0) \(message.isDeleted ? "-" : message.text)"
        }
    }

    /// Waits for a commit after which a condition holds, two minutes at most.
    func wait(for condition: @escaping @Sendable () async throws -> Bool) async throws {
        let changes = local.changes
        try await within {
            if try await condition() { return }
            for await _ in changes {
                if try await condition() { return }
            }
        }
    }

    /// Synchronizes until a condition holds, two minutes at most.
    func synchronize(until condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while try await !condition() {
            try #require(ContinuousClock.now < end)
            try await local.synchronize(wait: 1)
        }
    }
}

extension LiveService {
    /// Policies under which users of a provider may talk at once.
    static let openStreams = [
        "streams.yaml": """
        conversation_requires: provider
        required_level: none
        streams_per_user: 1000
        writes_per_minute: 120
        stored_bytes: 16777216
        poll_wait: 25s
        waiting_polls: 8
        """
    ]
}

/// Waits for something that happens elsewhere, ten seconds at most.
@discardableResult
func within<T: Sendable>(_ seconds: Int = 120, _ body: @escaping @Sendable () async throws -> T) async throws -> T {
    try await withThrowingTaskGroup(of: T?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: .seconds(seconds))
            return nil
        }
        defer { group.cancelAll() }
        return try #require(try await group.next() ?? nil)
    }
}
