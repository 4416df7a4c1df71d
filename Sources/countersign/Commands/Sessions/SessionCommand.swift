import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

/// `countersign session …`: the users' sessions.
struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Shows, challenges and ends sessions.",
        subcommands: [List.self, Show.self, Challenge.self, End.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the newest sessions that were not ended.")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions
        @Option(help: "Only sessions of this user: the id, or <provider slug>/<external id>.") var user: String?
        @Option(help: "Only sessions on this device, by its id.") var device: String?
        @Option(help: "Only sessions of this provider's users: its slug or id.") var provider: String?

        func run() async throws {
            let clocks = try SessionCommand.clocks(shared)
            let cursor: SessionID? = try page.cursor.map { text throws(CommandFailure) in
                try identifier(text, "session")
            }
            let scope = try scope()
            let sessions = try await Admin.run(shared) {
                try await ListOpenSessions($0.context)(limit: page.limit, after: cursor, scope)
            }
            page.noteRest(sessions.count, last: sessions.last?.id.description)
            if shared.json {
                Output.json(.array(sessions.map { SessionCommand.json($0, clocks) }))
            } else {
                Output.table(
                    [["SESSION", "USER", "DEVICE", "CREATED", "LAST USED", "STATE"]]
                        + sessions.map {
                            [
                                $0.id.description, $0.userID.description, $0.deviceID.description,
                                $0.createdAt.rfc3339, $0.lastUsedAt.rfc3339, SessionCommand.effectiveState($0, clocks),
                            ]
                        })
            }
        }

        private func scope() throws -> ListOpenSessions.Scope {
            guard [user, device, provider].count(where: { $0 != nil }) <= 1 else {
                throw CommandFailure("Give one of --user, --device and --provider.", exitCode: .usage)
            }
            if let user { return .user(user) }
            if let device { return .device(try identifier(device, "device")) }
            return provider.map { .provider($0) } ?? .all
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a session.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var session: String

        func run() async throws {
            let id: SessionID = try identifier(session, "session")
            let clocks = try SessionCommand.clocks(shared)
            SessionCommand.show(
                try await Admin.run(shared) { try await ReadSession($0.context)(id) }, clocks, json: shared.json)
        }
    }

    struct Challenge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Challenges a session: its user must prove who they are again.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var session: String
        @Option(help: "Why: a code or a ticket's number, kept in the audit log.") var reason: String?

        func run() async throws {
            let id: SessionID = try identifier(session, "session")
            let reason = try reason.map { text throws(CommandFailure) in try auditReason(text) }
            let changed = try await Admin.run(shared) { admin in
                try await ChallengeSession(admin.context)(id, reason: reason)
                return try await ReadSession(admin.context)(id)
            }
            SessionCommand.show(changed, SessionCommand.clocksOrDefaults(shared), json: shared.json)
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Ends a session.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var session: String
        @Option(help: "Why: a code or a ticket's number, kept in the audit log.") var reason: String?
        @Flag(help: "Preview only; change nothing.") var dryRun = false

        func run() async throws {
            let id: SessionID = try identifier(session, "session")
            let reason = try reason.map { text throws(CommandFailure) in try auditReason(text) }
            let changed = try await Admin.run(shared) { admin in
                if !dryRun { try await TerminateSession(admin.context)(id, reason: reason) }
                return try await ReadSession(admin.context)(id)
            }
            SessionCommand.show(changed, SessionCommand.clocksOrDefaults(shared), json: shared.json)
            if dryRun { Output.note("Nothing was changed: this session would end.") }
        }
    }

    /// The session lifetimes of the policies on disk. The running service uses them too, after it has read them.
    ///
    /// - Throws: ``CommandFailure`` if a policy is wrong: a state by other lifetimes would mislead.
    static func clocks(_ shared: SharedOptions) throws -> SessionPolicy {
        let settings = try Settings.resolve(shared: shared)
        return try PolicyFiles.load(directory: settings.policies, required: settings.policiesNamed).sessions
    }

    /// The same for showing a change: a wrong policy must not keep an admin from ending a session.
    static func clocksOrDefaults(_ shared: SharedOptions) -> SessionPolicy {
        (try? clocks(shared)) ?? SessionPolicy()
    }

    static func effectiveState(_ session: Session, _ clocks: SessionPolicy) -> String {
        session.effectiveState(at: Date(), policy: clocks).rawValue
    }

    static func show(_ session: Session, _ clocks: SessionPolicy, json: Bool) {
        if json { return Output.json(self.json(session, clocks)) }
        Output.table([
            ["session", session.id.description], ["user", session.userID.description],
            ["device", session.deviceID.description], ["app", session.applicationID.description],
            ["created", session.createdAt.rfc3339], ["renewed", session.renewedAt.rfc3339],
            ["last used", session.lastUsedAt.rfc3339], ["state", effectiveState(session, clocks)],
        ])
    }

    static func json(_ session: Session, _ clocks: SessionPolicy) -> JSONValue {
        .object([
            "session_id": .string(session.id.description), "user_id": .string(session.userID.description),
            "device_id": .string(session.deviceID.description), "app_id": .string(session.applicationID.description),
            "provider_id": .string(session.providerID.description),
            "created_at": .string(session.createdAt.rfc3339), "renewed_at": .string(session.renewedAt.rfc3339),
            "last_used_at": .string(session.lastUsedAt.rfc3339), "state": .string(effectiveState(session, clocks)),
        ])
    }
}
