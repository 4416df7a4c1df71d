import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

extension UserCommand {
    struct History: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what happened to a user, newest first, without personal data.",
            discussion: """
                Sign-ins with the code of each refusal, sessions, certificates of the devices, proofs of numbers, cards, \
                bans, and what the audit log has of the user. Sign-ins are recorded for sign_ins of retention.yaml.
                """,
            example: "user history acme/ada")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions
        @Argument(help: "The user's id, or <provider slug>/<external id>.") var user: String

        func report(_ admin: Admin) async throws -> Report {
            let history = try await admin.administrationWithKeys().readHistory(
                of: user, limit: page.limit, after: page.cursor)
            let events = page.report(history.events, Self.fields)
            var report = Report(
                [
                    Entry("user_id", history.summary.user.id), Entry("address", history.summary.address),
                    Entry("permissions", Self.permissions(history), none: "none"),
                    .json("only_counted", history.onlyCounted.accepted + history.onlyCounted.refused),
                ]
            ).with("events", history.events, Self.fields)
            (report.notes, report.hint) = (events.notes, events.hint)
            let (accepted, refused) = history.onlyCounted
            guard accepted + refused > 0 else { return report }
            return report.noting(
                "Not shown one by one: \(accepted) accepted and \(refused) refused sign-ins of the provider's users in "
                    + "networks with too many. This user's may be among them.")
        }

        private static func permissions(_ history: Administration.UserHistory) -> ReportCell {
            .counts(
                MessagingPermission.State.allCases.compactMap { state in
                    history.permissions[state].map { (state.rawValue.lowercased(), $0) }
                })
        }

        private static var fields: [Field<UserEvent>] {
            [
                .json("cursor") { $0.cursor }, Field("at", column: "AT") { $0.at },
                Field("kind", column: "KIND") { $0.kind.rawValue }, Field("what", column: "WHAT") { $0.what },
                .people(column: "WHY") { [$0.code, $0.reason].compactMap(\.self).joined(separator: " ") },
                .json("code") { $0.code }, .json("reason") { $0.reason },
                .json("session_id") { $0.sessionID }, Field("device_id", column: "DEVICE") { $0.deviceID },
                Field("app_id", column: "APP") { $0.applicationID }, Field("key_id", column: "KEY") { $0.keyID },
                Field("actor", column: "BY") { $0.actor },
            ]
        }
    }
}
