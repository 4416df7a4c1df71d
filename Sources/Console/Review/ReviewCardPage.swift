import Domain
import Encoding
import Foundation
import Operations

/// A card in review beside what is known of its user, with the forms that decide about it.
struct ReviewCardPage: Sendable {
    /// The forms of the page. A card has either those that decide, or at most the one that undoes.
    struct Forms: Sendable {
        var accept: Form?
        var reject: Form?
        var undo: Form?
        /// Undoes the decision that led here.
        var undoLast: Form?
    }

    let summary: Administration.CardSummary
    /// `nil` if the user was erased.
    let facts: CardFacts?
    let checks: [CardCheck]
    /// The reason of the decision; `nil` if there is none.
    let reason: String?
    let account: String?
    let accountName: String?
    let others: [Administration.OtherHolder]
    let forms: Forms
    let now: Date
    /// Whether the role may open the pages of users.
    let linksUsers: Bool
}

extension ReviewCardPage {
    init(_ card: Administration.CardInReview, _ forms: Forms, now: Date, linksUsers: Bool) {
        self.init(
            summary: card.summary, facts: card.facts, checks: card.checks, reason: card.reason, account: card.account,
            accountName: card.accountName, others: card.others, forms: forms, now: now, linksUsers: linksUsers)
    }
}

extension ReviewCardPage {
    var page: Page {
        let next = Self.next("Next card, without a decision", after: summary.id)
        return Page(
            "Card \(summary.id.short)", above: [Page.Link("Review", ReviewQueuePage.path)],
            content: """
                \(forms.undoLast.map(ReviewQueuePage.notice) ?? .empty)
                \(overview.markup)
                <p>\(next.markup)</p>
                \(comparison)
                \(results)
                \(holders.markup(others))
                \(attempts.markup(summary.earlier))
                \(decision)
                """)
    }

    private static func next(_ text: String, after card: IdentityCardID) -> Page.Link {
        Page.Link(text, ReviewQueuePage.path(of: card).appending("next"))
    }

    /// The page after a decision that was refused, for example because another reviewer was faster. The queue goes on
    /// from here.
    static func notStored(because refusal: Refusal, _ card: IdentityCardID) -> Page {
        let links = [
            next("Next card", after: card), Page.Link("Card \(card.short)", ReviewQueuePage.path(of: card)),
        ]
        return Page(
            "The decision was not stored", above: [Page.Link("Review", ReviewQueuePage.path)],
            content: """
                <p>\(refusal.detail)</p>
                \(Markup.list(links.map(\.markup)))
                """)
    }

    private var overview: Facts {
        var lines = Facts()
        if linksUsers {
            let path = Links.user(summary.userID)
            lines.add("User", Page.Link(account ?? summary.userID.description, path).markup)
        } else {
            lines.add("User", account ?? summary.userID.description)
        }
        lines.add("Submitted", .ago(summary.submittedAt, at: now))
        lines.add("Status", summary.status.words)
        lines.add("Level of the user", summary.level?.words)
        lines.add("Level by this card", summary.gives.words)
        lines.add("Read from", facts?.source.words)
        lines.add("Signature of the issuer", facts?.issuerSignature.state.words)
        return lines
    }

    private var comparison: Markup {
        guard let facts else {
            return "<p>The data of the user was erased, or cannot be read. Nothing is left to decide.</p>"
        }
        let table = DataTable<CardComparison.Line>(
            "This card and what was known before", none: "",
            [
                .text("Fact") { $0.fact }, .text("On this card") { $0.card }, .text("Known before") { $0.known },
                .text("Difference") { $0.difference },
            ])
        return table.markup(
            CardComparison(facts, accountName: accountName, former: summary.former).lines)
    }

    private var results: Markup {
        let failed = checks.filter { $0.result == .failed }
        let rest = checks.filter { $0.result != .failed }
        return """
            \(Self.checks("Failed checks", none: "No check failed.").markup(failed))
            <details>
            <summary>\(Markup.count(rest.count, "other check"))</summary>
            \(Self.checks("Other checks", none: "There are no other checks.").markup(rest))
            </details>
            """
    }

    private static func checks(_ caption: String, none: String) -> DataTable<CardCheck> {
        DataTable(
            caption, none: none,
            [.text("Check") { $0.name.words }, .text("Result") { $0.result.words }, .text("In words") { $0.detail }])
    }

    private var holders: DataTable<Administration.OtherHolder> {
        DataTable(
            "Other users of the app with this document or person",
            none: "No other user of the app has shown this document or a card of this person.",
            [
                .init("User") { [linksUsers] other in
                    let name = other.account ?? other.userID.description
                    let path = Links.user(other.userID)
                    return linksUsers ? Page.Link(name, path).markup : "<bdi>\(name)</bdi>"
                },
                .text("Has in common") { $0.shared == .document ? "the document" : "the person, by name and birthday" },
            ])
    }

    private var attempts: DataTable<Administration.EarlierCard> {
        DataTable(
            "Other cards of this user, newest first", none: "The user has shown no other card.",
            [
                .link("Card") { Page.Link("Card \($0.id.short)", ReviewQueuePage.path(of: $0.id)) },
                .init("Submitted") { [now] in .ago($0.submittedAt, at: now) },
                .text("Result") { $0.status.words },
                .init("Failed checks") { .list($0.failed.map { "\($0.detail)" }) },
            ])
    }
}

// MARK: The decision

extension ReviewCardPage {
    private var decision: Markup {
        """
        <h2>Decision</h2>
        \(stored)
        \(forms.accept.map(acceptance) ?? .empty)
        \(forms.reject.map(Self.rejection) ?? .empty)
        \(forms.undo?.markup ?? .empty)
        """
    }

    private func acceptance(_ form: Form) -> Markup {
        "<h3>Accept</h3>\n\(Markup.list(effects))\n\(form.markup)"
    }

    private static func rejection(_ form: Form) -> Markup {
        "<h3>Reject</h3>\n<p>The level stays as it is. The user may show another card.</p>\n\(form.markup)"
    }

    /// A decision that was made before, with its reviewer and reason.
    private var stored: Markup {
        guard let actor = summary.decidedBy else {
            return summary.status == .inReview ? .empty : "<p>The checks decided: \(summary.status.words).</p>"
        }
        var facts = Facts()
        facts.add("Decision", (summary.decision?.status ?? summary.status).words)
        facts.add("By", actor)
        facts.add("Reason", reason)
        if let decision = summary.decision { facts.add("Takes effect", decision.effectiveAt) }
        return facts.markup
    }

    /// What an acceptance does, a sentence each.
    private var effects: [Markup] {
        let (level, given) = (summary.level?.words ?? "none", summary.gives.words)
        let change: Markup =
            summary.level == summary.gives
            ? "The level of the user stays \(given)." : "The level of the user changes from \(level) to \(given)."
        let isOther = checks.contains { $0.name == .samePerson && $0.result == .failed }
        let ending: [Markup] =
            isOther
            ? ["The card is another person's than the one before: all permissions and requests of the user end."] : []
        return [change] + ending + [
            "The decision takes effect after ten seconds. Until then you can undo it."
        ]
    }
}
