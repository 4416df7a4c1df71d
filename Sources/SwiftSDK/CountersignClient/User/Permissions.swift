import Foundation
import HTTPTypes

/// Permissions of users to message each other.
public struct Permissions: Sendable {
    let client: Countersign

    /// The answer to a request.
    public enum Answer: String, Sendable, Hashable {
        case approval, rejection
    }

    /// Requests permission to message another user. Repeating it with the same id returns the same result.
    ///
    /// - Parameters:
    ///   - user: a user id or an address.
    ///   - event: a text of the app, which the other user does not see.
    /// - Returns: the id of the permission.
    @discardableResult
    public func ask(_ user: String, event: String? = nil, id: UUID = UUID()) async throws(Refusal) -> UUID {
        struct Asked: Decodable { let id: UUID }
        let asked: Asked = try await client.perform(
            Call(
                .post, "/authorizations", json: ["id": id.path, "to": user, "event_id": event], isRepeatable: true))
        return asked.id
    }

    /// Answers a request. An approval also ends this user's own request to the other user: two users have one permission.
    ///
    /// - Returns: the permission. It has another id if the other user approved this user's own request before.
    @discardableResult
    public func answer(_ id: UUID, _ answer: Answer) async throws(Refusal) -> Permission {
        try await client.perform(
            Call(.post, "/authorizations/\(id.path)/\(answer.rawValue)", isRepeatable: true))
    }

    /// Withdraws a request, or ends a permission. Cancelling a request that ended by the approval of the other user's
    /// request ends the permission.
    @discardableResult
    public func cancel(_ id: UUID) async throws(Refusal) -> Permission {
        try await client.perform(Call(.post, "/authorizations/\(id.path)/cancellation", isRepeatable: true))
    }

    public func show(_ id: UUID) async throws(Refusal) -> Permission {
        try await client.perform(Call(.get, "/authorizations/\(id.path)"))
    }

    /// Reads a page, newest first.
    ///
    /// - Parameter cursor: from the previous page.
    public func list(
        _ box: Permission.Box? = nil, state: Permission.State? = nil, cursor: String? = nil
    ) async throws(Refusal) -> Page {
        let query = [("box", box?.rawValue), ("state", state?.rawValue), ("cursor", cursor)].compactMap { name, value in
            value.map { "\(name)=\($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
        }
        let path = query.isEmpty ? "/authorizations" : "/authorizations?" + query.joined(separator: "&")
        return try await client.perform(Call(.get, path))
    }

    /// Blocks a user: permissions between the two end, and requests from that user are hidden.
    public func block(_ user: UUID) async throws(Refusal) { try await client.send(Call(.put, "/blocks/\(user.path)")) }

    /// Ends a block. Ended permissions stay ended.
    public func unblock(_ user: UUID) async throws(Refusal) {
        try await client.send(Call(.delete, "/blocks/\(user.path)"))
    }

    /// Blocks the user who requested a permission of this user, like ``block(_:)``, without the user's id.
    ///
    /// - Parameter id: the id of the request.
    public func block(requesterOf id: UUID) async throws(Refusal) {
        try await client.send(Call(.post, "/authorizations/\(id.path)/block", isRepeatable: true))
    }

    /// Ends the block of the user who requested a permission. Ended permissions stay ended.
    public func unblock(requesterOf id: UUID) async throws(Refusal) {
        try await client.send(Call(.delete, "/authorizations/\(id.path)/block"))
    }

    /// Every approved permission, page by page. A newly installed app rebuilds its list from it.
    public var grants: Grants { Grants(permissions: self) }

    public struct Page: Sendable, Hashable, Decodable {
        public let authorizations: [Permission]
        /// For the next page; `nil` on the last page.
        public let cursor: String?
    }
}

/// A request of one user to message another, and its state.
public struct Permission: Sendable, Hashable, Decodable {
    public let id: UUID
    public let box: Box
    public let state: State
    public let createdAt: Date
    /// While it is approved and both users are verified: `<requester> -> <recipient>`. It permits both directions.
    public let grant: String?
    /// The other user, as far as the state reveals it.
    public let partner: Partner?

    /// The direction of a request.
    public enum Box: String, Sendable, Hashable, Decodable {
        case incoming = "in"
        case outgoing = "out"
    }

    /// The state of a request.
    public enum State: String, Sendable, Hashable, Decodable {
        case requested = "REQUEST"
        case approved = "APPROVAL"
        case rejected = "REJECTED"
        case cancelled = "CANCELLED"
        case expired = "EXPIRED"
        case banned = "BANNED"
    }

    /// The visible data of the other user.
    public struct Partner: Sendable, Hashable, Decodable {
        /// The user's id, address and name; `nil` before the approval.
        public var profile: PublicProfile? {
            guard let userID, let address else { return nil }
            return PublicProfile(
                userID: userID, address: address, displayName: displayName, initials: initials, pictureURL: pictureURL)
        }
        private let userID: UUID?
        private let address: String?
        private let displayName: String?
        public let initials: String?
        public let age: Int?
        public let pictureURL: URL?
        public let assurance: Assurance
        /// The ARN of the other's endpoint for pushes.
        public let pushEndpoint: String?

        private enum CodingKeys: String, CodingKey {
            case address, initials, age, assurance
            case userID = "user_id"
            case displayName = "display_name"
            case pictureURL = "picture_url"
            case pushEndpoint = "push_endpoint"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case id, box, state, grant, partner
        case createdAt = "created_at"
    }
}

/// Approved permissions, read during iteration.
public struct Grants: AsyncSequence, Sendable {
    public typealias Element = Permission
    public typealias Failure = Refusal
    let permissions: Permissions

    public func makeAsyncIterator() -> Iterator { Iterator(permissions: permissions) }

    /// Reads the next page after the previous one was returned.
    public struct Iterator: AsyncIteratorProtocol {
        let permissions: Permissions
        private var rest: [Permission] = []
        private var cursor: String?
        private var isLast = false

        init(permissions: Permissions) { self.permissions = permissions }

        /// The next permission; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> Permission? {
            while rest.isEmpty, !isLast {
                let page = try await permissions.list(state: .approved, cursor: cursor)
                rest = page.authorizations.reversed()
                isLast = page.cursor == nil || page.cursor == cursor
                cursor = page.cursor
            }
            return rest.popLast()
        }
    }
}

extension Countersign {
    /// Permissions to message other users.
    public nonisolated var permissions: Permissions { Permissions(client: self) }
}

extension UUID {
    /// The form in paths and bodies.
    var path: String { uuidString.lowercased() }
}
