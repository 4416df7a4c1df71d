import Domain
import Encoding
import Foundation
import Operations

/// Card review: the queue, one card, and the decisions about it.
enum ReviewPages {
    static let routes: [ConsoleRoute] = [
        .page("/review", .review, cost: .read, query: ["after", "decided"], queue),
        // Not limited: reviewers look at every card that waits, and at no other.
        .page("/review/{}", .review, cost: .read, query: ["decided"], card),
        .page("/review/{}/next", .review, cost: .read, query: ["decided"], next),
        .action("/review/{}/accept", .review, cost: .write, subject: \.card) { try await decide($0, isAccepted: true) },
        .action("/review/{}/reject", .review, cost: .write, subject: \.card) {
            try await decide($0, isAccepted: false)
        },
        .action("/review/{}/undo", .review, cost: .write, subject: \.card, undo),
    ]

    /// The member that names the card whose decision led to a page.
    private static let decided: StaticString = "decided"

    @Sendable private static func queue(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let cursor = request.value("after")
        let waiting = try await request.administration.listCardsInReview(
            limit: ReviewQueuePage.limit + 1, after: try cursor.map(requireID))
        return .page(
            ReviewQueuePage(waiting: waiting, cursor: cursor, now: request.now, undo: undoLast(request)).page)
    }

    @Sendable private static func card(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let card = try await request.administration.readCardInReview(requireID(request.card))
        // A card that does not wait is a look at a person, and they are limited.
        if card.summary.status != .inReview { try request.look(at: [card.summary.userID]) }
        return .page(
            ReviewCardPage(
                card, forms(of: card, request), now: request.now,
                linksUsers: request.administrator.role.includes(.support)
            ).page)
    }

    /// The card after one in the queue, whether or not that one is still there.
    @Sendable private static func next(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        .seeOther(try await pathOfNext(requireID(request.card), request))
    }

    private static func decide(_ request: ConsoleRequest, isAccepted: Bool) async throws -> ConsoleAnswer {
        let id = try requireID(request.card)
        let reason = try request.required(isAccepted ? acceptReason : rejectReason, label: "Reason")
        do {
            _ = try await request.administration.decideCardLater(id, isAccepted: isAccepted, reason: reason)
        } catch let refusal as Refusal where refusal.code == .conflict {
            return .page(ReviewCardPage.notStored(because: refusal, id))
        }
        return .seeOther(try await pathOfNext(id, request).adding(decided, id.description))
    }

    @Sendable private static func undo(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let id = try requireID(request.card)
        try await request.administration.undoCardDecision(id)
        return .seeOther(ReviewQueuePage.path(of: id))
    }

    private static func pathOfNext(_ id: IdentityCardID, _ request: ConsoleRequest) async throws -> PagePath {
        let next = try await request.administration.listCardsInReview(limit: 1, after: id).first
        return next.map { ReviewQueuePage.path(of: $0.id) } ?? ReviewQueuePage.path
    }

    private static func requireID(_ text: String) throws(Refusal) -> IdentityCardID {
        guard let id = IdentityCardID(text[...]) else { throw Refusal.unknownCard }
        return id
    }
}

// MARK: Forms

extension ReviewPages {
    private static let acceptReason: StaticString = "accept_reason"
    private static let rejectReason: StaticString = "reject_reason"

    private static func forms(
        of card: Administration.CardInReview, _ request: ConsoleRequest
    ) -> ReviewCardPage.Forms {
        let summary = card.summary
        var forms = ReviewCardPage.Forms(undoLast: undoLast(request))
        if summary.decision != nil {
            if summary.isOwn { forms.undo = undo(summary.id, request) }
        } else if summary.status == .inReview {
            if card.facts != nil {
                forms.accept = form("accept", of: summary.id, acceptReason, "Accept, and open the next card", request)
            }
            forms.reject = form(
                "reject", of: summary.id, rejectReason, "Reject, and open the next card", request, isDangerous: true)
        }
        return forms
    }

    private static func form(
        _ action: String, of id: IdentityCardID, _ reason: StaticString, _ submit: String, _ request: ConsoleRequest,
        isDangerous: Bool = false
    ) -> Form {
        request.form(
            to: ReviewQueuePage.path(of: id).appending(action), subject: id.description,
            [
                .text(
                    name: reason, label: "Reason", hint: "Stored sealed with the card, and erased with the user.",
                    value: "", isRequired: true)
            ], submit: submit, isDangerous: isDangerous)
    }

    /// The form that undoes the decision that led to this page.
    private static func undoLast(_ request: ConsoleRequest) -> Form? {
        request.value(decided).flatMap { IdentityCardID($0[...]) }.map { undo($0, request) }
    }

    private static func undo(_ id: IdentityCardID, _ request: ConsoleRequest) -> Form {
        request.form(
            to: ReviewQueuePage.path(of: id).appending("undo"), subject: id.description, [],
            submit: "Undo the decision about card \(id.short)")
    }
}

extension ConsoleRequest {
    /// The card's id in the path, as it was given.
    fileprivate var card: String { segments.first ?? "" }
}
