import CountersignClient
import CountersignSync
import Foundation

/// The app of the article on messages on the device, block by block.
struct SynchronizationApp {
    let client: Countersign
    let session: Session
    let file: URL

    /// Returns what the app printed.
    func run() async throws -> [String] {
        let lines = Sentences()
        let print: @Sendable (String) -> Void = { lines.add($0) }

        let local = try await LocalStreams(file: file, user: session.userID, client: client)
        let changes = local.changes
        let running = Task { await local.run { print("Not synchronized: \($0)") } }
        defer { running.cancel() }

        let stream = UUID()
        try await local.open(StreamOpening(.conversation, members: ["devices/bob"], title: "Café plans", id: stream))
        let message = NewMessage([.text("Shall we meet at the café?")])
        try await local.send(message, to: stream)

        for await _ in changes {
            let page = try await local.messages(in: stream)
            guard let shown = page.sections.first?.messages.first, shown.sequence != nil else { continue }
            print("\(shown.text) (\(shown.status ?? .waiting))")
            break
        }

        var rows: [UUID: ConversationRow] = [:]
        var next: ConversationPage.Position?
        repeat {
            let page = try await local.conversationPage(after: next, limit: 20)
            for row in page.rows { rows[row.id] = row }
            next = page.next
        } while next != nil
        print("\(rows.count) conversation, \(rows[stream]?.unread ?? 0) unread.")

        for found in try await local.messages(matching: "meet caf") {
            let words = found.excerpt.matches.map { found.excerpt.text[$0] }
            print("Found: \(words.joined(separator: ", "))")
        }
        for found in try await local.conversations(matching: "cafe") {
            print("In: \(found.title?.text ?? "a message")")
        }

        try await local.merge(.object(["heart": .integer(1)]), into: message.id, in: stream)
        try await local.merge(.object(["later": .bool(true)]), .own, into: message.id, in: stream)
        let tagged = try await local.thread(message.id, in: stream).first
        print("\(tagged?.metadata["heart"] == .integer(1)), \(tagged?.privateMetadata["later"] == .bool(true))")
        try await local.deleteForMe(message.id, in: stream)
        return lines.all
    }
}
