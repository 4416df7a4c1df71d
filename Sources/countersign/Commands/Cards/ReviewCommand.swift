import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations
import Repositories

/// `countersign review …`: cards that need a reviewer's decision.
struct ReviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "review", abstract: "Decides about identity cards that the checks left undecided.",
        subcommands: [List.self, Show.self, Approve.self, Reject.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the cards that wait, oldest first.")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions

        func run() async throws {
            let cursor: IdentityCardID? = try page.cursor.map { text throws(CommandFailure) in
                try identifier(text, "card")
            }
            let waiting = try await Admin.run(shared) {
                try await ListCardsInReview($0.contextWithPersonalKeys())(limit: page.limit, after: cursor)
            }
            page.noteRest(waiting.count, last: waiting.last?.id.description)
            if shared.json {
                Output.json(
                    .array(
                        waiting.map { card in
                            .object([
                                "card_id": .string(card.id.description), "user_id": .string(card.userID.description),
                                "submitted_at": .string(card.submittedAt.rfc3339),
                                "failed": .array(card.failed.map { .string($0.name.rawValue) }),
                            ])
                        }))
            } else {
                Output.table(
                    [["CARD", "USER", "SUBMITTED", "FAILED"]]
                        + waiting.map {
                            [
                                $0.id.description, $0.userID.description, $0.submittedAt.rfc3339,
                                $0.failed.map(\.name.rawValue).joined(separator: ", "),
                            ]
                        })
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows a card with its checks. The access is written into the audit log.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var card: String

        func run() async throws {
            let id: IdentityCardID = try identifier(card, "card")
            let detail = try await Admin.run(shared) {
                try await ReadCardInReview($0.context, keys: $0.personalKeys())(id)
            }
            if shared.json { return Output.json(ReviewCommand.json(detail)) }
            Output.table(ReviewCommand.rows(detail))
            Output.table(
                [["CHECK", "RESULT", "DETAIL"]]
                    + detail.checks.map { [$0.name.rawValue, $0.result.rawValue, $0.detail] })
        }
    }

    struct Approve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Accepts a card.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var card: String
        @Option(help: "Why; kept with the decision.") var reason: String

        func run() async throws {
            let id: IdentityCardID = try identifier(card, "card")
            try await Admin.run(shared) {
                try await DecideCardReview($0.context, keys: $0.personalKeys()).approve(id, reason: reason)
            }
            ReviewCommand.say(id, "verified", json: shared.json)
        }
    }

    struct Reject: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Rejects a card.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var card: String
        @Option(help: "Why; kept with the decision.") var reason: String

        func run() async throws {
            let id: IdentityCardID = try identifier(card, "card")
            try await Admin.run(shared) {
                try await DecideCardReview($0.context, keys: $0.personalKeys()).reject(id, reason: reason)
            }
            ReviewCommand.say(id, "rejected", json: shared.json)
        }
    }

    private static func say(_ id: IdentityCardID, _ status: String, json: Bool) {
        if json {
            Output.json(.object(["card_id": .string(id.description), "status": .string(status)]))
        } else {
            Output.table([["\(id) is \(status)."]])
        }
    }

    private static func rows(_ detail: ReadCardInReview.Detail) -> [[String]] {
        let entry = detail.entry
        var rows = [
            ["card", entry.id.description], ["user", entry.userID.description], ["account", detail.account ?? "none"],
            ["account name", detail.accountName ?? "none"], ["status", entry.status.rawValue],
            ["submitted", entry.submittedAt.rfc3339],
        ]
        if let facts = detail.facts {
            rows += [
                ["card name", facts.fullName], ["born", facts.dateOfBirth.text],
                ["address", facts.address?.line ?? "none"],
                ["number", facts.documentNumber ?? "…\(facts.lastFour)"],
                ["issuer", [facts.jurisdiction, facts.country].compactMap(\.self).joined(separator: ", ")],
                ["expires", facts.expiresOn.text],
            ]
        }
        rows += detail.others.map {
            [
                "same \($0.shared.rawValue)",
                [$0.userID.description, $0.account].compactMap(\.self).joined(separator: ", "),
            ]
        }
        if let by = entry.decidedBy { rows.append(["decided by", by]) }
        if let reason = detail.reason { rows.append(["reason", reason]) }
        return rows
    }

    private static func json(_ detail: ReadCardInReview.Detail) -> JSONValue {
        let entry = detail.entry
        func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
        return .object([
            "card_id": .string(entry.id.description), "user_id": .string(entry.userID.description),
            "account": text(detail.account), "account_name": text(detail.accountName),
            "others": .array(
                detail.others.map { other in
                    .object([
                        "user_id": .string(other.userID.description), "account": text(other.account),
                        "shared": .string(other.shared.rawValue),
                    ])
                }),
            "status": .string(entry.status.rawValue), "submitted_at": .string(entry.submittedAt.rfc3339),
            "checks": CardCheck.json(detail.checks), "full_name": text(detail.facts?.fullName),
            "date_of_birth": text(detail.facts?.dateOfBirth.text), "address": text(detail.facts?.address?.line),
            "document_number": text(detail.facts?.documentNumber), "jurisdiction": text(detail.facts?.jurisdiction),
            "country": text(detail.facts?.country), "expires_on": text(detail.facts?.expiresOn.text),
            "decided_by": text(entry.decidedBy), "reason": text(detail.reason),
        ])
    }
}
