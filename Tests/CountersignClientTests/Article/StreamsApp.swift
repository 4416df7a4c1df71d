import CountersignClient
import Foundation

/// The app of the article on messages, block by block.
struct StreamsApp {
    let client: Countersign
    let picture: Data

    /// Returns what the app printed.
    func run() async throws -> [String] {
        var lines: [String] = []
        func print(_ line: String) { lines.append(line) }

        let opening = StreamOpening(.conversation, members: ["devices/bob"], title: "Plans")
        try await client.streams.open(opening)

        let message = NewMessage([.text("Lunch?"), MessagePart(.bytes(picture), type: "image/png")])
        let sent = try await client.streams.append(message, to: opening.id)
        print("Message \(sent.sequence) is sent.")
        let reply = NewMessage([.text("At noon?")], inReplyTo: message.id)
        try await client.streams.append(reply, to: opening.id)

        let page = try await client.streams.messages(in: opening.id, before: nil, limit: 20)
        print("\(page.messages.count) messages, \(page.hasMore ? "and more" : "and that is all").")

        for try await received in client.streams.events(of: opening.id) {
            print("\(received.sequence): \(received.parts?.first?.text ?? "no text")")
            try await client.streams.acknowledge(readThrough: received.sequence, in: opening.id)
            if received.id == reply.id { break }
        }

        try await client.streams.merge(.object(["heart": .integer(1)]), into: message.id, in: opening.id)
        try await client.streams.merge(.object(["later": .bool(true)]), .own, into: message.id, in: opening.id)

        try await client.streams.deleteForMe(message.id, in: opening.id)
        try await client.streams.delete(reply.id, in: opening.id)

        do {
            try await client.streams.append(NewMessage([.text("Hello?")]), to: UUID())
        } catch .service(let problem) where problem.code == .notFound {
            print("There is no such stream.")
        } catch .service(let problem) where problem.code == .conflict {
            print("Not sent: \(problem.state ?? problem.detail).")
        } catch {
            print("Try again later: \(error)")
        }
        return lines
    }
}
