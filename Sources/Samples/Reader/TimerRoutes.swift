import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import SampleBackend

/// The session timer. Volunteers' hours include more than the recorded time, so the reader starts and ends it.
///
/// The app submits its timer each minute, with each article and at the end. Each call may be repeated: the app chooses
/// the ids, and the time only rises.
struct TimerRoutes: Sendable {
    let store: ReaderStore
    let verify: SessionVerifier
    let months: Months

    func add(to router: Router<SampleContext>) {
        router.post("sessions", use: start)
        router.get("sessions/current") { request, context in
            let running = try await store.running(of: try await reader(request, context))
            guard let running else { throw HTTPError(.notFound, message: "no session is running") }
            return try Response.json(running)
        }
        router.put("sessions/:id/time") { request, context in
            try await submit(request, context)
        }
        router.post("sessions/:id/articles", use: submitArticle)
        router.post("sessions/:id/end") { request, context in
            try await submit(request, context, isEnd: true)
        }
        router.get("statistics") { request, context in
            let caller = try await verify(request, context)
            let month = try months.span(request.uri.queryParameters["month"].map(String.init))
            let total = try await store.totals(month.span, of: caller.user).first
            return try Response.json(
                Statistics(
                    month: month.name, sessions: total?.sessions ?? 0, articles: total?.articles ?? 0,
                    seconds: total?.seconds ?? 0))
        }
    }

    /// `POST /sessions` `id` → `201`; `409` with the session that runs, which the app continues or ends first.
    @Sendable private func start(_ request: Request, _ context: SampleContext) async throws -> Response {
        let reader = try await reader(request, context)
        let id = try await fields(request, context).required(\.id, "id")
        switch try await explaining({ try await store.start(id, of: reader) }) {
        case .started(let session): return try .json(session, status: .created)
        case .running(let session): return try .json(StillRunning(running: session), status: .conflict)
        }
    }

    private struct StillRunning: Encodable {
        let error = ["message": "another session runs: continue it, or end it first"]
        let running: ReaderStore.Session
    }

    private struct Statistics: Encodable {
        let month: String
        let sessions, articles, seconds: Int
    }

    private struct Fields: Decodable {
        let id: UUID?
        let seconds: Int?
        let title: String?

        func required(_ member: KeyPath<Fields, UUID?>, _ name: String) throws -> String {
            guard let id = self[keyPath: member] else { throw HTTPError(.badRequest, message: "\(name) is missing") }
            return id.uuidString.lowercased()
        }

        func elapsed() throws -> Int {
            guard let seconds, (0...86_400).contains(seconds) else {
                throw HTTPError(.badRequest, message: "seconds must be from 0 to 86400")
            }
            return seconds
        }
    }

    private func fields(_ request: Request, _ context: SampleContext) async throws -> Fields {
        try await request.decode(as: Fields.self, context: context)
    }

    private func submit(
        _ request: Request, _ context: SampleContext, isEnd: Bool = false
    ) async throws -> Response {
        let reader = try await reader(request, context)
        let id = try context.uuid("id").uuidString.lowercased()
        let seconds = try await fields(request, context).elapsed()
        return try .json(
            try await explaining { try await store.submit(seconds, to: id, of: reader, isEnd: isEnd) })
    }

    /// `POST /sessions/{id}/articles` `id`, `title`, `seconds`: records an article, and the time of the timer.
    @Sendable private func submitArticle(_ request: Request, _ context: SampleContext) async throws -> Response {
        let reader = try await reader(request, context)
        let id = try context.uuid("id").uuidString.lowercased()
        let fields = try await fields(request, context)
        let article = (
            id: try fields.required(\.id, "id"), title: try plainText(fields.title, "title", limit: 255)
        )
        let seconds = try fields.elapsed()
        return try .json(
            try await explaining { try await store.submit(seconds, to: id, of: reader, article: article) },
            status: .created)
    }

    private func reader(_ request: Request, _ context: SampleContext) async throws -> String {
        try await store.reader(try await verify(request, context))
    }

    private func explaining<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let conflict as ReaderStore.Conflict {
            switch conflict {
            case .idTaken: throw HTTPError(.conflict, message: "the id belongs to something else")
            case .unknown: throw HTTPError(.notFound, message: "unknown session")
            case .ended: throw HTTPError(.conflict, message: "the session has ended")
            }
        }
    }
}
