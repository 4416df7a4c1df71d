import ArgumentParser
import Foundation
import Identity
import Operations

/// `countersign session …`: who is signed in where.
struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Shows, challenges and ends sessions.",
        subcommands: [List.self, Show.self, Challenge.self, End.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the newest sessions that were not ended.")
        @OptionGroup var shared: SharedOptions
        @Option(help: "How many.") var limit = 50

        func run() async throws {
            let sessions = try await Admin.run(shared) { try await $0.sessions.list(limit: limit) }
            if shared.json {
                Output.json(.array(sessions.map(SessionCommand.json)))
            } else {
                Output.table(
                    [["SESSION", "USER", "DEVICE", "CREATED", "LAST USED", "STATE"]]
                        + sessions.map {
                            [
                                $0.id.description, $0.userID.description, $0.deviceID.description,
                                $0.createdAt.rfc3339, $0.lastUsedAt.rfc3339, SessionCommand.standing($0),
                            ]
                        })
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a session.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var session: String

        func run() async throws {
            let id: SessionID = try identifier(session, "session")
            SessionCommand.show(try await Admin.run(shared) { try await $0.sessions.show(id) }, json: shared.json)
        }
    }

    struct Challenge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Challenges a session: its user must prove who they are again.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var session: String

        func run() async throws {
            let id: SessionID = try identifier(session, "session")
            let changed = try await Admin.run(shared) { admin in
                try await admin.sessions.challenge(id)
                return try await admin.sessions.show(id)
            }
            SessionCommand.show(changed, json: shared.json)
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Ends a session.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var session: String

        func run() async throws {
            let id: SessionID = try identifier(session, "session")
            let changed = try await Admin.run(shared) { admin in
                try await admin.sessions.end(id)
                return try await admin.sessions.show(id)
            }
            SessionCommand.show(changed, json: shared.json)
        }
    }

    /// Judged by the default clocks: the policy in force belongs to the running service.
    static func standing(_ session: Session) -> String {
        session.standing(now: Date(), policy: SessionPolicy()).rawValue
    }

    static func show(_ session: Session, json: Bool) {
        if json { return Output.json(self.json(session)) }
        Output.table([
            ["session", session.id.description], ["user", session.userID.description],
            ["device", session.deviceID.description], ["app", session.applicationID.description],
            ["created", session.createdAt.rfc3339], ["renewed", session.renewedAt.rfc3339],
            ["last used", session.lastUsedAt.rfc3339], ["state", standing(session)],
        ])
    }

    static func json(_ session: Session) -> JSONValue {
        .members([
            "session_id": .string(session.id.description), "user_id": .string(session.userID.description),
            "device_id": .string(session.deviceID.description), "app_id": .string(session.applicationID.description),
            "provider_id": .string(session.providerID.description),
            "created_at": .string(session.createdAt.rfc3339), "renewed_at": .string(session.renewedAt.rfc3339),
            "last_used_at": .string(session.lastUsedAt.rfc3339), "state": .string(standing(session)),
        ])
    }
}
