import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

extension AdminsCommand {
    struct Acts: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List acts that wait for a second administrator, and the urgent ones of the last day.",
            example: "admin acts")
        @OptionGroup var shared: SharedOptions

        func report(_ admin: Admin) async throws -> Report {
            let acts = try await admin.administration.listWaitingActs()
            return Report(acts, Self.actFields + Self.banFields + Self.requestFields(at: admin.environment.now()))
        }

        private typealias Row = (act: WaitingAct, administrator: String)

        private static var actFields: [Field<Row>] {
            [
                Field("act_id", column: "ACT") { $0.act.id },
                Field("kind", column: "KIND") { $0.act.kind.rawValue },
                Field("subject", column: "SUBJECT") { $0.act.subject },
            ]
        }

        private static func requestFields(at now: Date) -> [Field<Row>] {
            [
                Field("users", column: "USERS") { $0.act.users },
                Field("reason", column: "REASON") { $0.act.reason },
                Field("requested_by", column: "BY") { $0.administrator },
                Field("created_at", column: "SINCE") { $0.act.createdAt },
                Field("state", column: "STATE") { $0.act.isWaiting(at: now) ? "waiting" : "done" },
            ]
        }

        /// What a ban is about. A number or document is never shown.
        private static var banFields: [Field<Row>] {
            [
                .people("ban", column: "BAN") { $0.act.ban.map(terms) },
                .json("ban_kind") { $0.act.ban?.kind.rawValue },
                .json("scope") { $0.act.ban?.scope.rawValue },
                .json("ends_at") { $0.act.ban?.endsAt },
                .json("with_devices") { $0.act.ban?.withDevices },
                .json("replaces") { $0.act.ban?.replaces },
            ]
        }

        private static func terms(_ ban: BanOrder) -> String {
            var terms = [ban.kind.rawValue, "scope \(ban.scope.rawValue)"]
            terms.append(ban.endsAt.map { "until \($0.rfc3339)" } ?? "permanent")
            if ban.withDevices { terms.append("with devices") }
            if ban.replaces { terms.append("replaces active bans") }
            return terms.joined(separator: ", ")
        }
    }

    struct Confirm: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Confirm an act that another administrator asked for; it takes effect at once.",
            discussion: """
                admin acts lists them. An administrator cannot confirm their own act, nor one that was asked for less than \
                an hour after they were added.
                """,
            example: "admin confirm 4f1c9a3e --note \"three reports\"")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The act's id or its beginning.") var act: TypedID<Kind.WaitingAct>
        @Option(help: "The finding of a ban; kept sealed, shown only to admins.") var note: String?

        func report(_ admin: Admin) async throws -> Report {
            let id = try await admin.resolve(act)
            // An invalid policy must not prevent an admin from banning.
            let policy = (try? admin.policy().bans) ?? BanPolicy()
            try await admin.administration.confirmAct(id, note: note, by: policy)
            return Report("Act \(id) is in force.", json: [.json("confirmed", id)])
        }
    }
}
