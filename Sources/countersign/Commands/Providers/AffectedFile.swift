import Domain
import Encoding
import Foundation
import Operations

/// A file with the users and sessions that some keys signed in. Only its owner can read it.
struct AffectedFile {
    private let path: String
    private let file: ArchiveFile

    /// Starts the file, whose name must be new.
    init(path: String) throws(CommandFailure) {
        self.path = path
        file = try ArchiveFile(path: path)
    }

    /// What the complete file contains.
    struct Written {
        let path: String
        let users: Int
        let sessions: Int
    }

    func write(_ keys: [ProviderKeyID], by admin: Administration) async throws -> Written {
        let (users, sessions) = try await admin.listAffected(by: keys) { part in
            try file.write(part.flatMap { Array(($0.json.jsonText + "\n").utf8) })
        }
        try file.finish()
        return Written(path: path, users: users, sessions: sessions)
    }

    /// Deletes what was written so far.
    func discard() { file.discard() }
}

extension Administration.AffectedSession {
    fileprivate var json: JSONValue {
        .object([
            "user_id": .string(userID.description), "external_id": .string(externalID),
            "session_id": .string(sessionID.description),
            "device_id": deviceID.map { .string($0.description) } ?? .null,
            "app_id": applicationID.map { .string($0.description) } ?? .null, "key_id": .string(keyID.description),
            "at": .string(at.rfc3339),
        ])
    }
}
