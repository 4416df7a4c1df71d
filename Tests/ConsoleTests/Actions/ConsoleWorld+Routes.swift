import Testing

@testable import Console

extension ConsoleWorld {
    /// An answer that is not of the expected kind.
    struct OtherAnswer: Error {}

    static let routes = UserPages.routes + BanPages.routes + ActPages.routes

    func answer(
        _ kind: ConsoleRoute.Kind, _ path: String, _ segments: [String], _ values: [String: String]
    ) async throws -> ConsoleAnswer {
        let route = try #require(Self.routes.first { $0.kind == kind && $0.path.description == path })
        return try await route.answer(request(segments, values, operationID: kind == .action ? "o1" : nil))
    }

    /// The page of a route.
    func page(_ path: String, _ segments: [String] = [], _ values: [String: String] = [:]) async throws -> Page {
        guard case .page(let page) = try await answer(.page, path, segments, values) else { throw OtherAnswer() }
        return page
    }

    /// Where an action leads.
    @discardableResult
    func act(_ path: String, _ segments: [String] = [], _ values: [String: String] = [:]) async throws -> String {
        guard case .seeOther(let path) = try await answer(.action, path, segments, values) else { throw OtherAnswer() }
        return path.text
    }

    /// The page that an action shows instead of leading to another.
    func preview(_ path: String, _ segments: [String] = [], _ values: [String: String] = [:]) async throws -> Page {
        guard case .page(let page) = try await answer(.action, path, segments, values) else { throw OtherAnswer() }
        return page
    }
}
