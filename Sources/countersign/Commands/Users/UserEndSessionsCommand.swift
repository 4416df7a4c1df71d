import ArgumentParser
import Domain
import Operations

extension UserCommand {
    struct EndSessions: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "End every session of a user, who may sign in again.",
            discussion: "To let the user prove the identity again in the same sessions, use user challenge.",
            example: "user end-sessions acme/ada --reason ticket:4711 --dry-run")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The user's id, or <provider slug>/<external id>.") var user: String
        @Option(help: "The reason: a code or a ticket's number, kept in the audit log.") var reason: String
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @OptionGroup var unasked: UnaskedOption

        func report(_ admin: Admin) async throws -> Report {
            let reason = try auditReason(reason)
            let id = try await admin.administrationWithKeys().readUser(user).user.id.description
            let ended =
                try await dryRun
                ? admin.administration.listSessions(limit: .max, .user(id)).count
                : admin.administration.endSessions(of: id, reason: reason)
            let entries = [Entry("user_id", id), Entry("sessions_ended", ended)]
            return Report(entries + (dryRun ? [.json("dry_run", true)] : [])).noting(previewNote(dryRun))
        }
    }
}
