import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations
import Repositories

/// `countersign review …`: cards that a person must decide about.
struct ReviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "review", abstract: "Decides about identity cards that no rule could judge.",
        subcommands: [List.self, Show.self, Approve.self, Reject.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the cards that wait, oldest first.")
        @OptionGroup var shared: SharedOptions
        @Option(help: "How many.") var limit = 50

        func run() async throws {
            let waiting = try await Admin.run(shared) { try await $0.reviews().list(limit: limit) }
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
            abstract: "Shows a card beside its checks. The look is written into the audit log.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var card: String

        func run() async throws {
            let id: IdentityCardID = try identifier(card, "card")
            let opened = try await Admin.run(shared) { try await $0.reviews().show(id) }
            if shared.json { return Output.json(ReviewCommand.json(opened)) }
            Output.table(ReviewCommand.rows(opened))
            Output.table(
                [["CHECK", "RESULT", "DETAIL"]]
                    + opened.checks.map { [$0.name.rawValue, $0.result.rawValue, $0.detail] })
        }
    }

    struct Approve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "The card counts from now on.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var card: String
        @Option(help: "Why; kept with the decision.") var reason: String

        func run() async throws {
            let id: IdentityCardID = try identifier(card, "card")
            try await Admin.run(shared) { try await $0.reviews().approve(id, reason: reason) }
            ReviewCommand.say(id, "verified", json: shared.json)
        }
    }

    struct Reject: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "The card does not count.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var card: String
        @Option(help: "Why; kept with the decision.") var reason: String

        func run() async throws {
            let id: IdentityCardID = try identifier(card, "card")
            try await Admin.run(shared) { try await $0.reviews().reject(id, reason: reason) }
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

    private static func rows(_ opened: ReviewCards.Opened) -> [[String]] {
        let entry = opened.entry
        var rows = [
            ["card", entry.id.description], ["user", entry.userID.description], ["account", opened.account ?? "none"],
            ["account name", opened.accountName ?? "none"], ["status", entry.status.rawValue],
            ["submitted", entry.submittedAt.rfc3339],
        ]
        if let facts = opened.facts {
            rows += [
                ["card name", facts.fullName], ["born", facts.dateOfBirth.text],
                ["address", facts.address?.line ?? "none"],
                ["number", facts.documentNumber ?? "…\(facts.lastFour)"],
                ["issuer", [facts.jurisdiction, facts.country].compactMap(\.self).joined(separator: ", ")],
                ["expires", facts.expiresOn.text],
            ]
        }
        rows += opened.others.map {
            [
                "same \($0.shared.rawValue)",
                [$0.userID.description, $0.account].compactMap(\.self).joined(separator: ", "),
            ]
        }
        if let by = entry.decidedBy { rows.append(["decided by", by]) }
        if let reason = opened.reason { rows.append(["reason", reason]) }
        return rows
    }

    private static func json(_ opened: ReviewCards.Opened) -> JSONValue {
        let entry = opened.entry
        func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
        return .object([
            "card_id": .string(entry.id.description), "user_id": .string(entry.userID.description),
            "account": text(opened.account), "account_name": text(opened.accountName),
            "others": .array(
                opened.others.map { other in
                    .object([
                        "user_id": .string(other.userID.description), "account": text(other.account),
                        "shared": .string(other.shared.rawValue),
                    ])
                }),
            "status": .string(entry.status.rawValue), "submitted_at": .string(entry.submittedAt.rfc3339),
            "checks": CardCheck.json(opened.checks), "full_name": text(opened.facts?.fullName),
            "date_of_birth": text(opened.facts?.dateOfBirth.text), "address": text(opened.facts?.address?.line),
            "document_number": text(opened.facts?.documentNumber), "jurisdiction": text(opened.facts?.jurisdiction),
            "country": text(opened.facts?.country), "expires_on": text(opened.facts?.expiresOn.text),
            "decided_by": text(entry.decidedBy), "reason": text(opened.reason),
        ])
    }
}
