import Domain
import Encoding
import Foundation
import Operations

/// Messages that wait to be sent, and dead letters.
enum OutboxPages {
    static let routes: [ConsoleRoute] = [
        .page("/outbox", .manage, cost: .read, query: ["state", "after"], list),
        .page("/outbox/retry", .manage, cost: .read, confirmRetryOfAll),
        .action("/outbox/retry", .manage, cost: .heavy, retryAll),
        .page("/outbox/{}/retry", .manage, cost: .read) { try await confirm(.retry, $0) },
        .action("/outbox/{}/retry", .manage, cost: .write, subject: \.message) { try await act(.retry, $0) },
        .page("/outbox/{}/drop", .manage, cost: .read) { try await confirm(.drop, $0) },
        .action("/outbox/{}/drop", .manage, cost: .write, subject: \.message) { try await act(.drop, $0) },
    ]

    @Sendable private static func list(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let state = try request.value("state").map { text throws(Refusal) in
            guard let state = OutboxMessage.State(rawValue: text) else { throw Refusal.fieldUnreadable("state") }
            return state
        }
        let cursor = request.value("after")
        let messages = try await request.administration.listOutbox(
            state, limit: OutboxListPage.limit + 1, after: cursor)
        return .page(OutboxListPage(messages: messages, state: state, cursor: cursor, now: request.now).page)
    }
}

// MARK: Actions

extension OutboxPages {
    private enum Act: String {
        case retry, drop
    }

    private static func confirm(_ act: Act, _ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let id = try requireID(request.message)
        let message =
            switch act {
            case .retry: try await request.administration.previewRetry(of: id)
            case .drop: try await request.administration.previewDrop(of: id)
            }
        let form = request.form(
            to: OutboxListPage.path(of: message.id, act.rawValue), subject: id.description, [.reason],
            submit: act == .retry ? "Send it again" : "Drop it", isDangerous: act == .drop)
        return .page(confirmation(act, of: message, form, at: request.now).page)
    }

    private static func confirmation(_ act: Act, of message: OutboxMessage, _ form: Form, at now: Date) -> Confirmation
    {
        let one: Markup = "1 message (\(message.kind.words), \(Markup.ago(message.createdAt, at: now)))"
        return switch act {
        case .retry:
            Confirmation(
                title: "Send message \(message.id.short) again", above: above,
                effects: ["\(one) is queued again, with all tries. It is sent within 30 seconds."], form: form)
        case .drop:
            Confirmation(
                title: "Drop message \(message.id.short)", above: above,
                effects: ["\(one) is never sent. Its content is deleted."], form: form)
        }
    }

    private static func act(_ act: Act, _ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let (id, reason) = (try requireID(request.message), try request.reason())
        let message =
            switch act {
            case .retry: try await request.administration.retryMessage(id, reason: reason)
            case .drop: try await request.administration.dropMessage(id, reason: reason)
            }
        return .seeOther(OutboxListPage.path.adding("state", message.state.rawValue))
    }

    @Sendable private static func confirmRetryOfAll(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let count = try await request.administration.previewRetry()
        let form = request.form(
            to: PagePath("/outbox/retry"), [.reason], submit: "Send all dead messages again")
        let effect: Markup =
            "\(Markup.bounded(count, "dead message")) that can still be sent: queued again with all tries."
        return .page(
            Confirmation(title: "Send all dead messages again", above: above, effects: [effect], form: form).page)
    }

    @Sendable private static func retryAll(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        _ = try await request.administration.retryDeadMessages(reason: request.reason())
        return .seeOther(OutboxListPage.path.adding("state", OutboxMessage.State.waiting.rawValue))
    }

    private static let above = [Page.Link("Outbox", OutboxListPage.path)]

    private static func requireID(_ text: String) throws(Refusal) -> OutboxMessageID {
        guard let id = OutboxMessageID(text[...]) else { throw Refusal.fieldUnreadable("message") }
        return id
    }
}

extension ConsoleRequest {
    /// The message's id in the path, as it was given.
    fileprivate var message: String { segments.first ?? "" }
}
