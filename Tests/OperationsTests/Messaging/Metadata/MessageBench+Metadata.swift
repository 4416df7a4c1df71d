import Database
import Domain
import Encoding
import Foundation
import Repositories

@testable import Operations

extension MessageBench {
    /// Changes a message's metadata by a merge patch.
    @discardableResult
    func tag(
        _ patch: JSONValue, _ message: StreamMessage, isPrivate: Bool = false, by session: Session
    ) async throws -> JSONValue {
        let (id, stream) = (message.id.description, message.streamID.description)
        return isPrivate
            ? try await context.changeOwnMessageMetadata(.merge(patch), of: id, in: stream, for: session)
            : try await context.changeSharedMessageMetadata(.merge(patch), of: id, in: stream, for: session)
    }

    func deleteCopy(of message: StreamMessage, by session: Session) async throws {
        try await context.deleteMessageCopy(
            message.id.description, in: message.streamID.description, for: session)
    }

    /// The metadata of a stream's messages as a user reads them, shared and private, by number. Messages without any
    /// are left out.
    func tags(_ stream: String, by session: Session) async throws -> [Int64: [JSONValue]] {
        let range = try Service.MessageRange(after: "0", before: nil, limit: nil)
        let views = try await context.readMessages(range, of: stream, for: session).views
        return views.reduce(into: [:]) { tags, view in
            let both = [view.metadata ?? .empty, view.privateMetadata ?? .empty].map(\.value)
            if both != [.object([]), .object([])] { tags[view.message.sequence] = both }
        }
    }

    /// The bytes that a user's quota counts.
    func storedBytes(of session: Session) async throws -> Int64 {
        try await context.store.read { try StreamUserRepository($0).storedBytes(of: session.userID) }
    }

    /// A conversation of two with a message of the first.
    func conversation() async throws -> (ann: Session, bob: Session, stream: String, message: StreamMessage) {
        let (ann, bob) = (try await people.person("ann"), try await people.person("bob"))
        try await permit(ann, bob)
        let stream = try await open("conversation", [bob], by: ann)
        return (ann, bob, stream, try await send("hello", to: stream, by: ann))
    }
}
