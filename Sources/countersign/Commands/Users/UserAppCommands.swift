import ArgumentParser
import Domain
import Operations

extension UserCommand {
    struct Apps: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the apps that have sessions of a user or that the user forbids.",
            example: "user apps acme/ada")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The user's id, or <provider slug>/<external id>.") var user: String

        func report(_ admin: Admin) async throws -> Report {
            let apps = try await admin.administrationWithKeys().listApps(
                of: user, policy: try admin.policy().sessions)
            return Report(
                apps,
                [
                    Field("app_id", column: "APP") { $0.app.id }, Field("name", column: "NAME") { $0.app.name },
                    Field("sessions", column: "SESSIONS") { $0.sessions },
                    Field("last_used_at", column: "LAST USED") { $0.lastUsedAt },
                    Field("forbidden_at", column: "FORBIDDEN") { $0.forbiddenAt },
                ])
        }
    }

    struct AllowApp: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Allow an app that a user forbade, if the user has no other app to do so.",
            example: "user allow-app acme/ada 2c6f90de --reason ticket:4711")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The user's id, or <provider slug>/<external id>.") var user: String
        @Argument(help: "The app's id or its beginning.") var app: TypedID<Kind.Application>
        @OptionGroup var why: ReasonOption

        func report(_ admin: Admin) async throws -> Report {
            let reason = try why.parsed()
            let allowed = try await withUsageErrors {
                try await admin.administration.allowApp(app, of: user, reason: reason)
            }
            return Report([Entry("app_id", allowed.app), Entry("was_forbidden", allowed.wasForbidden)])
        }
    }
}
