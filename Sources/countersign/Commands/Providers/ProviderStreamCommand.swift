import ArgumentParser
import Domain
import Encoding
import Operations

/// `countersign provider stream …`.
struct StreamCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stream", abstract: "Lists the streams of security events, and approves their push addresses.",
        subcommands: [List.self, Show.self, Approve.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the streams of a provider.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String

        func run() async throws {
            let streams = try await Admin.run(shared) { try await ReadProviderStreams($0.context)(of: provider) }
            if shared.json {
                Output.json(.array(streams.map(StreamCommand.json)))
            } else {
                Output.table(
                    [["STREAM", "DELIVERY", "STATUS", "CREATED"]]
                        + streams.map {
                            [
                                $0.id.description, StreamCommand.address($0) ?? "poll", StreamCommand.status($0),
                                $0.createdAt.rfc3339,
                            ]
                        })
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a stream.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The stream's id.") var stream: String

        func run() async throws {
            let id: EventStreamID = try identifier(stream, "stream")
            let found = try await Admin.run(shared) { try await ReadProviderStreams($0.context)(id) }
            if shared.json { return Output.json(StreamCommand.json(found)) }
            let settings = found.settings
            Output.table([
                ["stream", found.id.description], ["provider", found.provider.description],
                ["delivery", StreamCommand.address(found) ?? "poll"], ["status", StreamCommand.status(found)],
                ["reason", found.present.reason ?? ""], ["description", settings.description ?? ""],
                ["algorithm", settings.algorithm.rawValue], ["subjects", settings.subjectForm.rawValue],
                ["events", settings.delivered.joined(separator: " ")], ["created", found.createdAt.rfc3339],
            ])
        }
    }

    struct Approve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Approves the push address of a stream: its events are sent there from now on.",
            discussion: "It asks first. Scripts give the address with --url.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The stream's id.") var stream: String
        @Option(help: "The address to approve, without a question.") var url: String?

        func run() async throws {
            let id: EventStreamID = try identifier(stream, "stream")
            let approved = try await Admin.run(shared) { admin in
                let found = try await ReadProviderStreams(admin.context)(id)
                let address = url ?? StreamCommand.address(found) ?? ""
                if url == nil { try Confirmation.ask("send events about users to \(address)") }
                return try await ApproveEventStream(admin.context)(id, url: address)
            }
            if shared.json { return Output.json(StreamCommand.json(approved)) }
            Output.table([["\(stream) sends to \(StreamCommand.address(approved) ?? "nowhere")."]])
        }
    }

    /// The push address; `nil` for a polled stream.
    fileprivate static func address(_ stream: EventStream) -> String? {
        if case .push(let url) = stream.settings.delivery { url } else { nil }
    }

    fileprivate static func status(_ stream: EventStream) -> String {
        stream.awaitsApproval ? "awaits approval" : stream.present.status.rawValue
    }

    fileprivate static func json(_ stream: EventStream) -> JSONValue {
        let (status, reason) = stream.present
        return .object([
            "stream_id": .string(stream.id.description), "provider_id": .string(stream.provider.description),
            "method": .string(address(stream) == nil ? "poll" : "push"),
            "endpoint_url": address(stream).map { .string($0) } ?? .null,
            "awaits_approval": .bool(stream.awaitsApproval), "status": .string(status.rawValue),
            "reason": reason.map { .string($0) } ?? .null,
            "description": stream.settings.description.map { .string($0) } ?? .null,
            "signing_alg": .string(stream.settings.algorithm.rawValue),
            "subject_format": .string(stream.settings.subjectForm.rawValue),
            "events_delivered": .array(stream.settings.delivered.map { .string($0) }),
            "created_at": .string(stream.createdAt.rfc3339),
        ])
    }
}
