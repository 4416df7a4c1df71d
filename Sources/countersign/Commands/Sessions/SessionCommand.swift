import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Show, challenge and end sessions.",
        subcommands: [List.self, Show.self, Challenge.self, End.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the newest sessions that were not ended, or those that ended last.",
            discussion: "Ended sessions are kept for some days. For a user see user history.",
            example: "session list --user acme/ada")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions
        @Option(help: "The user of the sessions: the id, or <provider slug>/<external id>.") var user: String?
        @Option(help: "The device of the sessions, by its id or the id's beginning.") var device: TypedID<Kind.Device>?
        @Option(help: "The provider of the sessions' users: its slug or id.") var provider: String?
        @Option(help: "The key of the provider that opened or last renewed the sessions: its id or the id's beginning.")
        var key: TypedID<Kind.ProviderKey>?
        @Flag(help: "List ended sessions, with the reason of each end.") var ended = false
        @Option(
            help: "Only sessions opened since a time, such as 24h or 2026-01-31. With --ended, only those ended since.")
        var since: String?

        func report(_ admin: Admin) async throws -> Report {
            let lifetimes = try admin.policy().sessions
            let scope = try await scope(admin)
            let start = try since.map { text throws(CommandFailure) in try moment(text, "--since", now: Date()) }
            guard ended else {
                return page.report(
                    try await admin.administration.listSessions(
                        limit: page.limit, after: page.identifier(), scope, since: start),
                    SessionCommand.fields(lifetimes))
            }
            guard user == nil, device == nil else {
                throw CommandFailure(
                    "--ended lists all sessions, or those of --provider or --key. For a user see user history.",
                    exitCode: .usage)
            }
            let ends: [Field<PastSession>] = [
                Field("ended_at", "ended", column: "ENDED") { $0.endedAt },
                Field("end_reason", column: "WHY") { $0.endReason },
            ]
            return page.report(
                try await admin.administration.listEndedSessions(
                    limit: page.limit, after: page.identifier(), scope, since: start),
                SessionCommand.fields(lifetimes).map { $0.of(\.session) } + ends)
        }

        private func scope(_ admin: Admin) async throws -> Administration.SessionSelection {
            guard [user, device?.text, provider, key?.text].compactMap(\.self).count <= 1 else {
                throw CommandFailure("Give only one of --user, --device, --provider and --key.", exitCode: .usage)
            }
            if let user { return .user(user) }
            if let device { return .device(try await admin.resolve(device)) }
            if let key { return .key(try await admin.resolve(key)) }
            return provider.map { .provider($0) } ?? .all
        }
    }

    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a session.",
            example: "session show 5b7e20f4")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The session's id or its beginning.") var session: TypedID<Kind.Session>

        func report(_ admin: Admin) async throws -> Report {
            let lifetimes = try admin.policy().sessions
            return Report(
                try await admin.administration.readSession(admin.resolve(session)),
                SessionCommand.fields(lifetimes))
        }
    }

    struct Challenge: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Challenge a session: its user must prove the identity again.",
            example: "session challenge 5b7e20f4 --reason ticket:4711")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The session's id or its beginning.") var session: TypedID<Kind.Session>
        @OptionGroup var why: ReasonOption

        func report(_ admin: Admin) async throws -> Report {
            let reason = try why.parsed()
            let session = try await admin.resolve(session)
            try await admin.administration.challengeSession(session, reason: reason)
            return SessionCommand.report(try await admin.administration.readSession(session), admin)
        }
    }

    struct End: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a session.",
            example: "session end 5b7e20f4 --dry-run")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The session's id or its beginning.") var session: TypedID<Kind.Session>
        @OptionGroup var why: ReasonOption
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @OptionGroup var unasked: UnaskedOption

        func report(_ admin: Admin) async throws -> Report {
            let reason = try why.parsed()
            let session = try await admin.resolve(session)
            if !dryRun { try await admin.administration.endSession(session, reason: reason) }
            return SessionCommand.report(try await admin.administration.readSession(session), admin).noting(
                previewNote(dryRun, "this session would end"))
        }
    }

    /// The report of a changed session. An invalid policy must not prevent an admin from ending a session.
    private static func report(_ session: Session, _ admin: Admin) -> Report {
        Report(session, fields((try? admin.policy().sessions) ?? SessionPolicy()))
    }

    static func fields(_ lifetimes: SessionPolicy) -> [Field<Session>] {
        [
            Field("session_id", "session", column: "SESSION") { $0.id },
            Field("user_id", "user", column: "USER") { $0.userID },
            Field("device_id", "device", column: "DEVICE") { $0.deviceID },
            Field("app_id", "app") { $0.applicationID }, .json("provider_id") { $0.providerID },
            Field("created_at", "created", column: "CREATED") { $0.createdAt },
            Field("renewed_at", "renewed") { $0.renewedAt },
            Field("last_used_at", "last used", column: "LAST USED") { $0.lastUsedAt },
            Field("state", column: "STATE") { $0.effectiveState(at: Date(), policy: lifetimes).rawValue },
        ]
    }
}
