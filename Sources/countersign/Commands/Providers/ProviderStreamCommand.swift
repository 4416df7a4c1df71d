import ArgumentParser
import Domain
import Encoding
import Operations

struct StreamCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stream", abstract: "List the streams of security events, and approve their push addresses.",
        subcommands: [List.self, Show.self, Approve.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the streams of a provider.",
            example: "provider stream list acme")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String

        func report(_ admin: Admin) async throws -> Report {
            Report(
                try await admin.administration.listEventStreams(of: provider),
                StreamCommand.fields)
        }
    }

    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a stream.",
            example: "provider stream show e47a11c9")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The stream's id or its beginning.") var stream: TypedID<Kind.EventStream>

        func report(_ admin: Admin) async throws -> Report {
            Report(
                try await admin.administration.readEventStream(admin.resolve(stream)), StreamCommand.fields)
        }
    }

    struct Approve: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Approve the push address of a stream: its events are sent there from now on.",
            discussion: "It asks first. In scripts give the address with --url, or add --yes.",
            example: "provider stream approve e47a11c9")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The stream's id or its beginning.") var stream: TypedID<Kind.EventStream>
        @Option(help: "The address to approve without a question.") var url: String?
        @Flag(help: "Approve the stream's present address without a question.") var yes = false

        func report(_ admin: Admin) async throws -> Report {
            let stream = try await admin.resolve(stream)
            let found = try await admin.administration.readEventStream(stream)
            let address = url ?? StreamCommand.address(found) ?? ""
            if url == nil, !yes { try Confirmation.ask("send events about users to \(address)") }
            let approved = try await admin.administration.approveEventStream(stream, url: address)
            return Report(
                "\(stream) sends to \(StreamCommand.address(approved) ?? "nowhere").",
                json: StreamCommand.fields.map { $0.entry(approved) })
        }
    }

    /// The push address; `nil` for a polled stream.
    private static func address(_ stream: EventStream) -> String? {
        if case .push(let url) = stream.settings.delivery { url } else { nil }
    }

    private static var fields: [Field<EventStream>] {
        [
            Field("stream_id", "stream", column: "STREAM") { $0.id }, Field("provider_id", "provider") { $0.provider },
            .json("method") { address($0) == nil ? "poll" : "push" },
            Field("endpoint_url", "delivery", column: "DELIVERY", none: "poll", address),
            .json("awaits_approval") { $0.awaitsApproval },
            Field("status", column: "STATUS") { stream in
                let status = stream.present.status.rawValue
                return ReportCell(.string(status), stream.awaitsApproval ? "awaits approval" : status)
            },
            Field("reason", none: "") { $0.present.reason }, Field("description", none: "") { $0.settings.description },
            Field("signing_alg", "algorithm") { $0.settings.algorithm.rawValue },
            Field("subject_format", "subjects") { $0.settings.subjectForm.rawValue },
            Field("events_delivered", "events") { stream in
                ReportCell(stream.settings.delivered.cell.json, stream.settings.delivered.joined(separator: " "))
            },
            Field("created_at", "created", column: "CREATED") { $0.createdAt },
        ]
    }
}
