import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations
import Repositories

/// `countersign review …`: cards that need a reviewer's decision.
struct ReviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "review", abstract: "Decide about identity cards that the checks left undecided.",
        subcommands: [List.self, Show.self, Approve.self, Reject.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the cards in review, oldest first.",
            example: "review list")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions

        func report(_ admin: Admin) async throws -> Report {
            let waiting = try await admin.administrationWithKeys().listCardsInReview(
                limit: page.limit, after: page.identifier())
            return page.report(
                waiting,
                [
                    // Without the user, a row fits a line of 80 characters.
                    Field("card_id", column: "CARD") { $0.id }, .json("user_id") { $0.userID },
                    Field("submitted_at", column: "SUBMITTED") { $0.submittedAt },
                    Field("failed", column: "FAILED", none: "") { $0.failed.map(\.name.rawValue) },
                ])
        }
    }

    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a card with its checks.", discussion: "The access is recorded in the audit log.",
            example: "review show 7d20b6c1")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The card's id or its beginning.") var card: TypedID<Kind.IdentityCard>

        func report(_ admin: Admin) async throws -> Report {
            let detail = try await admin.administration.readCardInReview(admin.resolve(card))
            return Report(ReviewCommand.entries(of: detail)).with(
                "checks", ReviewCommand.failuresFirst(detail.checks),
                [
                    Field("name", column: "CHECK") { $0.name.rawValue },
                    Field("result", column: "RESULT") { $0.result.rawValue },
                    Field("detail", column: "DETAIL") { $0.detail },
                ])
        }
    }

    struct Approve: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Accept a card.",
            example: "review approve 7d20b6c1 --reason \"same person, new name\"")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The card's id or its beginning.") var card: TypedID<Kind.IdentityCard>
        @Option(help: "The reason in free text, at most 4096 bytes; kept sealed with the card.") var reason: String

        func report(_ admin: Admin) async throws -> Report {
            let card = try await admin.resolve(card)
            try await admin.administration.approveCard(card, reason: reason)
            return ReviewCommand.report(card, "verified")
        }
    }

    struct Reject: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Reject a card.",
            example: "review reject 7d20b6c1 --reason \"a copy of a card\"")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The card's id or its beginning.") var card: TypedID<Kind.IdentityCard>
        @Option(help: "The reason in free text, at most 4096 bytes; kept sealed with the card.") var reason: String

        func report(_ admin: Admin) async throws -> Report {
            let card = try await admin.resolve(card)
            try await admin.administration.rejectCard(card, reason: reason)
            return ReviewCommand.report(card, "rejected")
        }
    }

    /// The checks in their order, but those that a reviewer decides about before all others.
    private static func failuresFirst(_ checks: [CardCheck]) -> [CardCheck] {
        checks.filter { $0.result == .failed } + checks.filter { $0.result != .failed }
    }

    /// The failed checks in one line.
    private static func summary(_ checks: [CardCheck]) -> String {
        let failed = checks.filter { $0.result == .failed }.map(\.name.rawValue)
        return "\(failed.count) of \(checks.count) failed"
            + (failed.isEmpty ? "" : ": " + failed.joined(separator: ", "))
    }

    private static func report(_ id: IdentityCardID, _ status: String) -> Report {
        Report("\(id) is \(status).", json: [.json("card_id", id), .json("status", status)])
    }

    private static func entries(of detail: Administration.CardInReview) -> [Entry] {
        let (entry, facts) = (detail.entry, detail.facts)
        let address = ReportCell((facts?.address?.line).cell.json, facts.map { $0.address?.line ?? "none" })
        let number = ReportCell(
            (facts?.documentNumber).cell.json, facts.map { $0.documentNumber ?? "…\($0.lastFour)" })
        let issuer = facts.map { [$0.jurisdiction, $0.country].compactMap(\.self).joined(separator: ", ") }
        let others = Report(
            detail.others,
            [Field("user_id") { $0.userID }, Field("account") { $0.account }, Field("shared") { $0.shared.rawValue }])
        var entries: [Entry] = [
            Entry("card_id", "card", entry.id), Entry("user_id", "user", entry.userID),
            Entry("account", detail.account, none: "none"), Entry("account_name", detail.accountName, none: "none"),
            .json("others", others), Entry("status", entry.status.rawValue),
            .people("checks", summary(detail.checks)),
            Entry("submitted_at", "submitted", entry.submittedAt),
            Entry("full_name", "card name", facts?.fullName, none: nil),
            Entry("date_of_birth", "born", facts?.dateOfBirth.text, none: nil),
            Entry("address", address, none: nil), Entry("document_number", "number", number, none: nil),
            .json("jurisdiction", facts?.jurisdiction), .json("country", facts?.country),
            .people("issuer", issuer, none: nil), Entry("expires_on", "expires", facts?.expiresOn.text, none: nil),
            Entry("issuer_signature", "signature", facts?.issuerSignature.state.rawValue, none: nil),
        ]
        entries += detail.others.map {
            .people(
                "same \($0.shared.rawValue)",
                [$0.userID.description, $0.account].compactMap(\.self).joined(separator: ", "))
        }
        entries += [
            Entry("decided_by", entry.decidedBy, none: nil), Entry("reason", detail.reason, none: nil),
        ]
        return entries
    }
}
