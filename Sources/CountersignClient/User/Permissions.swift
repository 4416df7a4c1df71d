import Foundation
import HTTPTypes

/// The permissions of users to write to each other.
public struct Permissions: Sendable {
    let client: Countersign

    /// The answer to a request.
    public enum Answer: String, Sendable, Hashable {
        case approval, rejection
    }

    /// Requests to write to another user. Repeating it with the same id gives the same answer.
    ///
    /// - Parameters:
    ///   - user: a user id or an address.
    ///   - event: any text of the app, up to the limit of the service; the other side does not see it.
    /// - Returns: the id of the permission.
    @discardableResult
    public func ask(_ user: String, event: String? = nil, id: UUID = UUID()) async throws(Refusal) -> UUID {
        struct Asked: Decodable { let id: UUID }
        let asked: Asked = try await client.perform(
            Call(
                .post, "/authorizations", json: ["id": id.path, "to": user, "event_id": event], isRepeatable: true))
        return asked.id
    }

    /// Answers another user's request.
    @discardableResult
    public func answer(_ id: UUID, _ answer: Answer) async throws(Refusal) -> Permission {
        try await client.perform(
            Call(.post, "/authorizations/\(id.path)/\(answer.rawValue)", isRepeatable: true))
    }

    /// Takes an own request back, or ends a permission.
    @discardableResult
    public func cancel(_ id: UUID) async throws(Refusal) -> Permission {
        try await client.perform(Call(.post, "/authorizations/\(id.path)/cancellation", isRepeatable: true))
    }

    /// Reads one.
    public func show(_ id: UUID) async throws(Refusal) -> Permission {
        try await client.perform(Call(.get, "/authorizations/\(id.path)"))
    }

    /// Reads a page, newest first.
    ///
    /// - Parameter cursor: of the page before.
    public func list(
        _ box: Permission.Box? = nil, state: Permission.State? = nil, cursor: String? = nil
    ) async throws(Refusal) -> Page {
        let query = [("box", box?.rawValue), ("state", state?.rawValue), ("cursor", cursor)].compactMap { name, value in
            value.map { "\(name)=\($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
        }
        let path = query.isEmpty ? "/authorizations" : "/authorizations?" + query.joined(separator: "&")
        return try await client.perform(Call(.get, path))
    }

    /// Blocks a user: permissions between the two end, and requests of that user are not seen.
    public func block(_ user: UUID) async throws(Refusal) { try await client.send(Call(.put, "/blocks/\(user.path)")) }

    /// Ends a block; what it ended stays ended.
    public func unblock(_ user: UUID) async throws(Refusal) {
        try await client.send(Call(.delete, "/blocks/\(user.path)"))
    }

    /// Every approved permission, page by page: an app that was installed anew rebuilds its list from it.
    public var grants: Grants { Grants(permissions: self) }

    /// Some permissions, and where the next ones are.
    public struct Page: Sendable, Hashable, Decodable {
        public let authorizations: [Permission]
        /// For the next page; `nil` behind the last.
        public let cursor: String?
    }
}

/// A request of one user to write to another, and what became of it.
public struct Permission: Sendable, Hashable, Decodable {
    public let id: UUID
    public let box: Box
    public let state: State
    public let createdAt: Date
    /// While it is approved and both are verified: `<requester> -> <recipient>`. It permits both directions.
    public let grant: String?
    /// The other side, as far as the state shows it.
    public let partner: Partner?

    /// Whose request it is.
    public enum Box: String, Sendable, Hashable, Decodable {
        /// Another user's.
        case incoming = "in"
        /// The user's own.
        case outgoing = "out"
    }

    /// What became of a request.
    public enum State: String, Sendable, Hashable, Decodable {
        case requested = "REQUEST"
        case approved = "APPROVAL"
        case rejected = "REJECTED"
        case cancelled = "CANCELLED"
        case expired = "EXPIRED"
        case banned = "BANNED"
    }

    /// What one user is shown of the other.
    public struct Partner: Sendable, Hashable, Decodable {
        public let initials: String?
        public let age: Int?
        public let pictureURL: URL?
        public let assurance: Assurance
        /// The ARN of the other's endpoint for pushes.
        public let pushEndpoint: String?

        private enum CodingKeys: String, CodingKey {
            case initials, age, assurance
            case pictureURL = "picture_url"
            case pushEndpoint = "push_endpoint"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case id, box, state, grant, partner
        case createdAt = "created_at"
    }
}

/// Approved permissions, read while they are iterated over.
public struct Grants: AsyncSequence, Sendable {
    public typealias Element = Permission
    public typealias Failure = Refusal
    let permissions: Permissions

    /// Begins at the newest.
    public func makeAsyncIterator() -> Iterator { Iterator(permissions: permissions) }

    /// Reads the next page when the one before is used up.
    public struct Iterator: AsyncIteratorProtocol {
        let permissions: Permissions
        private var rest: [Permission] = []
        private var cursor: String?
        private var isLast = false

        init(permissions: Permissions) { self.permissions = permissions }

        /// The next one; `nil` behind the last.
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
    /// Permissions to write to other users.
    public nonisolated var permissions: Permissions { Permissions(client: self) }
}

extension UUID {
    /// As paths and bodies have it.
    var path: String { uuidString.lowercased() }
}
