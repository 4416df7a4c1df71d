import CountersignClient
import Fixtures
import Foundation
import GRDB
import Testing

@testable import CountersignSync

extension LocalStoreTests {
    /// A store with one conversation and its messages, numbered from 1.
    private func filled(
        _ texts: [String], title: String = "T", file: URL? = nil
    ) async throws -> (local: LocalStreams, messages: [StreamMessage]) {
        let local = try await local(file)
        let messages = texts.enumerated().map { Self.message(Int64($0 + 1), $1) }
        let row = try Self.row(Int64(texts.count), title: title, name: "Bertha Xu")
        try await take([SyncOperation(.newMessage, Self.stream, stream: row)], local, to: "a.1")
        let page = try Self.page(messages, last: Int64(texts.count))
        try await local.write { try $0.take(page, of: Self.stream, .newest) }
        return (local, messages)
    }

    private func numbers(
        _ text: String, _ local: LocalStreams, in stream: UUID? = nil, from sender: UUID? = nil, limit: Int = 50
    ) async throws -> [Int64?] {
        try await local.messages(matching: text, in: stream, from: sender, limit: limit).map(\.message.sequence)
    }

    @Test("finds messages by their words, newest first, with the places of the words")
    func search() async throws {
        let (local, _) = try await filled([
            "Das Hotel in Köln ist gebucht", "Koln?\nWir fahren im Mai", "Ein E-Mail an das Hôtel", "koeln",
        ])
        for (text, found) in [
            ("köln", [2, 1]), ("KOLN", [2, 1]), ("ko", [4, 2, 1]), ("hotel", [3, 1]), ("hotel gebu", [1]),
            ("gebu hotel", []), ("e-mail", [3]), ("mail-e", []), ("mail e", [3]), ("mai", [3, 2]), ("", []), (" !", []),
        ] as [(String, [Int64?])] {
            #expect(try await numbers(text, local) == found, "\(text)")
        }
        let hit = try #require(try await local.messages(matching: "hotel geb").first)
        #expect(hit.excerpt.text == "Das Hotel in Köln ist gebucht")
        #expect(hit.excerpt.matches.map { hit.excerpt.text[$0] } == ["Hotel", "gebucht"])
        #expect(try await numbers("hotel", local, in: Self.stream, from: Self.bob) == [3, 1])
        #expect(try await numbers("hotel", local, in: UUID()) == [])
        #expect(try await numbers("hotel", local, from: Self.ann) == [])
        #expect(try await numbers("hotel", local, limit: 1) == [3])
        #expect(try await numbers("hotel", local, limit: -1) == [])
        // What the user writes is found before it is sent.
        try await local.send(
            NewMessage([.text("Hotel ok"), MessagePart(.text("secret"), type: "application/x")]), to: Self.stream)
        #expect(try await numbers("ok", local) == [nil])
        #expect(try await numbers("secret", local) == [])
    }

    @Test("finds conversations by title, by another member's name and by a message")
    func conversations() async throws {
        let (local, _) = try await filled(["Das Hotel ist gebucht", "Noch ein Hotel"], title: "Ferien in Köln")
        let (other, later) = (UUID(), Date(timeIntervalSince1970: 1_800_000_000))
        try await local.open(StreamOpening(.conversation, members: [], title: "Köln, Hotel", id: other), now: later)
        #expect(try await local.conversations(matching: "koln").map(\.id) == [other, Self.stream])
        let byTitle = try #require(try await local.conversations(matching: "ferien").first)
        #expect(byTitle.title.map { title in title.matches.map { title.text[$0] } } == ["Ferien"])
        #expect(byTitle.message == nil)
        let byMessage = try await local.conversations(matching: "hotel")
        #expect(
            byMessage.map(\.message?.message.sequence) == [nil, 2]
                && byMessage.map(\.title?.text) == ["Köln, Hotel", nil])
        let byName = try await local.conversations(matching: "bertha x")
        #expect(byName.map(\.id) == [Self.stream] && byName.map(\.title) == [nil] && byName.map(\.message) == [nil])
        try await local.remove(Self.bob, from: Self.stream)
        #expect(try await local.conversations(matching: "bertha").isEmpty)
        try await local.delete(Self.stream)
        #expect(try await local.conversations(matching: "hotel").map(\.id) == [other])
        #expect(try await local.messages(matching: "hotel").isEmpty)
    }

    @Test(
        "takes every text of a user as words",
        arguments: [
            "\"", "\"\"", "*", "^", "(", ")", "-", "+", ":", "'", "\0", "\u{1F44D}", "\u{301}", "\"\u{301}", "{}:",
            ";--", "\\",
            "\u{FFFF}", String(repeating: "\"", count: 99), String(repeating: "( ", count: 99),
        ])
    func signs(text: String) async throws {
        let (local, _) = try await filled(["Das Hotel and not near"])
        for one in ["hotel \(text)", "\(text) hotel", "hotel\(text)", "das\(text) hotel", "and \(text)", "NOT\(text)"] {
            #expect(try await numbers(one, local) == [1], "\(one)")
        }
        #expect(try await numbers(text, local) == [])
        #expect(try await local.conversations(matching: text).isEmpty)
        #expect(try await numbers("text\(text): hotel", local) == [])
        #expect(try await numbers(String(repeating: "hotel\(text) ", count: 9999), local) == [1])
    }

    @Test("marks words in any script, and takes no mark from a message")
    func excerpts() async throws {
        let (local, _) = try await filled([
            "\u{1}x\u{1} मुझे होटल", String(repeating: "a ", count: 500) + "Ziel",
        ])
        let hit = try #require(try await local.messages(matching: "x").first).excerpt
        #expect(hit.text == "\u{1}x\u{1} मुझे होटल")
        #expect(hit.matches.map { hit.text[$0] } == ["x"])
        let long = try #require(try await local.messages(matching: "ziel").first).excerpt
        #expect(long.text.count < 100 && long.text.hasPrefix("…") && long.matches.map { long.text[$0] } == ["Ziel"])
        #expect(try await numbers("होटल", local) == [1])
    }

    /// The rows of all indexes that differ from their tables.
    private func differences(_ local: LocalStreams) async throws -> Int {
        try await local.write { store in
            var count = 0
            for index in SearchIndex.all {
                let rows = """
                    SELECT database_identifier, \(index.text(index.source)) AS text FROM \(index.source) WHERE text IS NOT NULL
                    """
                let indexed = "SELECT rowid, text FROM \(index.table)"
                for (one, other) in [(rows, indexed), (indexed, rows)] {
                    let sql = "SELECT COUNT(*) FROM (SELECT * FROM (\(one)) EXCEPT SELECT * FROM (\(other)))"
                    count += try Int.fetchOne(store.connection, sql: sql) ?? 0
                }
                try store.connection.execute(
                    sql: "INSERT INTO \(index.table) (\(index.table), rank) VALUES ('integrity-check', 1)")
            }
            return count
        }
    }

    @Test("keeps the indexes equal to what they index, whatever changes", arguments: 0..<4)
    func indexes(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let (local, _) = try await filled(["one", "two"])
        var last: Int64 = 2
        for step in 0..<60 {
            let known = try await local.messages(in: Self.stream, limit: 100).sections.flatMap(\.messages)
            let message = known.randomElement(using: &random)?.id ?? UUID()
            let row = try Self.row(last, title: "t\(step)", name: step.isMultiple(of: 3) ? nil : "X\(step)")
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1:
                last += 1
                let page = try Self.page([Self.message(last, "word\(step)")], last: last)
                try await take([SyncOperation(.newMessage, Self.stream, stream: row)], local, to: "a.\(step)")
                try await local.write { try $0.take(page, of: Self.stream, .after) }
            case 2: try await local.send(NewMessage([.text("own\(step)"), .text("more")]), to: Self.stream)
            case 3: try await take([SyncOperation(.deleted, Self.stream, message: message)], local, to: "a.\(step)")
            case 4: try await local.delete(message, in: Self.stream)
            case 5: try await local.open(StreamOpening(.conversation, members: [], title: "open\(step)"))
            case 6: try await take([SyncOperation(.erased, Self.stream, stream: row)], local, to: "a.\(step)")
            case 7: try await local.write { try $0.reconcileOutbound() }
            default: try await take([SyncOperation(.deleted, Self.stream)], local, to: "a.\(step)")
            }
            #expect(try await differences(local) == 0, "seed \(seed), step \(step)")
            try await local.removeDeletedWords()
        }
        // Another timeline of the service's store.
        try await take([], local, to: "b.1")
        #expect(try await differences(local) == 0)
    }

    @Test("leaves no word of a deleted message in the file, and none for another user")
    func words() async throws {
        let place = try ScratchDirectory()
        let file = URL(filePath: place.file("streams.db"))
        func contains(_ word: String) throws -> Bool { try Data(contentsOf: file).range(of: Data(word.utf8)) != nil }
        let (local, messages) = try await filled(["zebrafinch", "kingfisher"], file: file)
        #expect(try contains("ebrafinch") && contains("ingfisher"))
        try await take([SyncOperation(.deleted, Self.stream, message: messages[0].id)], local, to: "a.2")
        try await local.removeDeletedWords()
        #expect(try await !local.read { try $0.hasDeletedWords() })
        #expect(try !contains("ebrafinch") && contains("ingfisher"))
        #expect(try await numbers("kingfisher", local) == [2])
        _ = try await self.local(file, user: Self.bob)
        #expect(try !contains("ingfisher"))
    }
}
