import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// Signed-in users, each with a connection of the load program.
struct People {
    /// `streams.yaml` for users without a number, who need nobody's consent for a conversation.
    static let policy = """
        conversation_requires: provider
        required_level: none
        streams_per_user: 1000
        writes_per_minute: 120
        stored_bytes: 16777216
        poll_wait: 25s
        waiting_polls: 8
        """

    let fleet: Fleet
    let users: [String]
    let tokens: [String]

    /// Signs users in, over as many connections.
    ///
    /// - Parameter prefix: begins their names.
    static func signIn(
        _ count: Int, devices: Int, _ service: RunningService, _ provider: BenchmarkProvider, _ prefix: String,
        group: MultiThreadedEventLoopGroup
    ) async throws -> People {
        let fleet = try await Fleet.connect(
            try await Fleet.certify(devices, on: service, group: group), count: count,
            port: Fleet.port(service.clientURL), group: group)
        let answers = try await fleet.run(try await fleet.openings(1, by: provider.es256, of: provider, prefix))
        return People(
            fleet: fleet, users: try answers.map { try $0[0].text("user_id") },
            tokens: try answers.map { try $0[0].text("session_token") })
    }

    func request(_ index: Int, _ method: String, _ path: String, body: String? = nil) -> ByteBuffer {
        RequestBytes.make(
            method, path, headers: ["Authorization: Layer session-token=\"\(tokens[index])\""], body: body)
    }

    /// Opens a conversation of a user's with others.
    func open(by index: Int, with others: [Int]) async throws -> String {
        let id = UUID().uuidString.lowercased()
        let members = others.map { "\"\(users[$0])\"" }.joined(separator: ",")
        let body = #"{"id":"\#(id)","kind":"conversation","members":[\#(members)]}"#
        let answer = try await fleet.connections[index].run([request(index, "POST", "/streams", body: body)])
        guard answer[0].status == 201 else { throw BenchmarkError("\(answer[0].status) opening a stream") }
        return id
    }

    /// The body of a new message.
    static func message() -> String {
        let text = String(repeating: "word ", count: 20)
        return #"{"id":"\#(UUID().uuidString.lowercased())","parts":[{"type":"text/plain","body":"\#(text)"}]}"#
    }

    /// The start of a verification of a number that nobody had before, probably.
    static func phoneStart() -> String { #"{"phone_number":"+1415\#(Int.random(in: 2_000_000...9_999_999))"}"# }
}
