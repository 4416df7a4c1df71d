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
            let now = admin.environment.now()
            return Report(
                try await admin.administration.listWaitingActs(),
                [
                    Field("act_id", column: "ACT") { $0.act.id },
                    Field("kind", column: "KIND") { $0.act.kind.rawValue },
                    Field("subject", column: "SUBJECT") { $0.act.subject },
                    Field("users", column: "USERS") { $0.act.users },
                    Field("reason", column: "REASON") { $0.act.reason },
                    Field("requested_by", column: "BY") { $0.administrator },
                    Field("created_at", column: "SINCE") { $0.act.createdAt },
                    Field("state", column: "STATE") { $0.act.isWaiting(at: now) ? "waiting" : "done" },
                ])
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
