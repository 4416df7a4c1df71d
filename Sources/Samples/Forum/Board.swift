import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import SampleBackend

/// The common part of the device's routes, its WebSockets and the page.
struct Board: Sendable {
    let store: ForumStore
    let live: LiveForums
    private let limit = Limiter(60, per: 60)

    /// The maximum length of a list, and the largest `offset`. Older forums are read by `lessThan`.
    private static let pageSize = 100, deepestOffset = 10_000

    init(store: ForumStore, live: LiveForums) { (self.store, self.live) = (store, live) }

    /// A message from a client: a text or a link. The client chooses the id, so that it can be sent again.
    struct Draft: Decodable {
        let id: UUID?
        let text, link: String?
    }

    /// Appends a message and sends it to connected members.
    func post(_ draft: Draft, to forum: UUID, by user: String) async throws -> ForumStore.Message {
        try await limit.count(user)
        guard (draft.text == nil) != (draft.link == nil) else {
            throw HTTPError(.badRequest, message: "a message must be a text or a link")
        }
        let text = try draft.text.map { try plainText($0, "text", limit: 4000, allowsLines: true) }
        let link = try draft.link.map { try Self.link($0) }
        let made = try await Self.explaining {
            try await store.append(draft.id ?? UUID(), to: forum, text: text, link: link, by: user)
        }
        if made.isNew { await live.publish(.message(made.message), in: forum) }
        return made.message
    }

    /// `GET forum?offset&resultSize&greaterThan`: newest first. `greaterThan` is the number of the reader's newest
    /// forum, `lessThan` that of the oldest.
    func forums(_ request: Request) async throws -> Response {
        try .json(try await store.forums(Self.range(request)))
    }

    /// `GET forum/{uuid}`: the forum, and its connected members.
    func forum(_ id: UUID) async throws -> Response {
        struct Detail: Encodable {
            let forum: ForumStore.Entry
            let online: [String]
        }
        return try .json(Detail(forum: try await existing(id), online: await live.online(in: id)))
    }

    /// `GET forum/{uuid}/message?offset&resultSize&greaterThan`: the messages of a forum, newest first.
    func messages(_ request: Request, of id: UUID) async throws -> Response {
        let forum = try await existing(id)
        return try .json(try await store.messages(of: forum.id, Self.range(request)))
    }

    /// `GET forum/{uuid}/image`: the given picture, or an identicon of the title.
    func image(of id: UUID) async throws -> Response {
        let forum = try await existing(id)
        // A picture must not run scripts, even if it is opened as a page.
        var headers = HTTPFields()
        headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        guard let (data, type) = try await store.image(of: id) else {
            return .of(Data(Identicon(forum.title).svg.utf8), type: "image/svg+xml", headers)
        }
        return .of(data, type: type, headers)
    }

    private func existing(_ id: UUID) async throws -> ForumStore.Entry {
        guard let forum = try await store.forum(id) else {
            throw HTTPError(.notFound, message: "unknown forum")
        }
        return forum
    }

    private static func range(_ request: Request) throws -> ForumStore.Range {
        let query = request.uri.queryParameters
        func number(_ name: String, in allowed: ClosedRange<Int64>, or value: Int64) throws -> Int64 {
            guard let text = query[name[...]] else { return value }
            guard let number = Int64(text), allowed.contains(number) else {
                throw HTTPError(
                    .badRequest, message: "\(name) must be from \(allowed.lowerBound) to \(allowed.upperBound)")
            }
            return number
        }
        return ForumStore.Range(
            offset: Int(try number("offset", in: 0...Int64(deepestOffset), or: 0)),
            size: Int(try number("resultSize", in: 1...Int64(pageSize), or: Int64(pageSize))),
            newerThan: try number("greaterThan", in: 0...Int64.max, or: 0),
            olderThan: try number("lessThan", in: 0...Int64.max, or: Int64.max))
    }

    private static func link(_ text: String) throws -> String {
        let link = try plainText(text, "link", limit: 2048)
        guard let parts = URLComponents(string: link), ["http", "https"].contains(parts.scheme?.lowercased()),
            parts.host?.isEmpty == false, parts.user == nil, parts.password == nil
        else { throw HTTPError(.badRequest, message: "link must be an http or https URL") }
        return link
    }

    /// Turns a conflict of the store into a response.
    static func explaining<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let conflict as ForumStore.Conflict {
            switch conflict {
            case .titleTaken: throw HTTPError(.conflict, message: "a forum with this title exists")
            case .idTaken: throw HTTPError(.conflict, message: "the id belongs to another message")
            case .tooMany: throw HTTPError(.conflict, message: "too many subscriptions: delete some first")
            case .unknown: throw HTTPError(.notFound, message: "unknown forum")
            }
        }
    }
}
