import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("A list of streams by pages")
struct StreamPagingTests {
    private typealias Filter = MessageStreamFilter

    /// Reads a list to its end, and lets something happen after each page.
    private static func walk(
        _ bench: MessageBench, _ session: Session, kind: String? = nil, member: String? = nil,
        metadata: [(parameter: String, value: String)] = [], between: (Int) async throws -> Void = { _ in }
    ) async throws -> (streams: [String], pages: Int) {
        var (streams, cursor) = ([String](), String?.none)
        for number in 1...50 {
            let filter = try Filter(kind: kind, cursor: cursor, member: member, metadata: metadata, indexed: ["topic"])
            let page = try await bench.context.listMessageStreams(filter, for: session)
            #expect(page.views.count <= Service.MessageStreamPage.size)
            streams += page.views.map(\.stream.id.description)
            guard let next = page.cursor else { return (streams, number) }
            cursor = next
            try await between(number)
        }
        Issue.record("the list has no end")
        return (streams, 50)
    }

    private static func run(on kind: StoreKind, _ body: (MessageBench, Session, Session) async throws -> Void)
        async throws
    {
        try await MessageBench.run(on: kind) {
            $0.streams.conversationRequires = .provider
            $0.streams.indexedMetadata = ["topic"]
        } _: { bench in
            try await body(bench, try await bench.people.person("ann"), try await bench.people.person("bob"))
        }
    }

    @Test(
        "shows a stream that gets a message between two pages, wherever it was, and ends", arguments: StoreKind.shared,
        ["conversation", "forum"])
    func moved(kind: StoreKind, of listed: String) async throws {
        try await Self.run(on: kind) { bench, ann, _ in
            var made: [String] = []
            for _ in 0..<60 {
                bench.people.clock.advance(20)
                made.append(try await bench.open(listed, by: ann))
            }
            let filter = listed == "forum" ? "forum" : nil
            let quiet = try await Self.walk(bench, ann, kind: filter)
            #expect(Array(quiet.streams.prefix(60)) == made.reversed() && Set(quiet.streams) == Set(made))
            // One of the first page, one of a later page, and on the last pages some more.
            let walked = try await Self.walk(bench, ann, kind: filter) { page in
                guard page < 6 else { return }
                bench.people.clock.advance(20)
                for index in [0, 59, 10 * page] where index < 60 { try await bench.send("x", to: made[index], by: ann) }
            }
            #expect(Set(walked.streams) == Set(made))
            #expect(walked.pages <= 8)
        }
    }

    @Test("shows a stream that was opened between two pages")
    func opened() async throws {
        try await Self.run(on: .usual) { bench, ann, _ in
            for _ in 0..<40 { _ = try await bench.open("conversation", by: ann) }
            var late: String?
            let walked = try await Self.walk(bench, ann) { page in
                if page == 1 { late = try await bench.open("conversation", by: ann) }
            }
            #expect(walked.streams.count == 41 && walked.streams.last == late)
        }
    }

    @Test("has a filter's streams however far apart they are, on short pages", arguments: StoreKind.shared)
    func filtered(kind: StoreKind) async throws {
        try await Self.run(on: kind) { bench, ann, bob in
            var wanted: [String] = []
            for index in 0..<70 {
                let isWanted = index.isMultiple(of: 3)
                let stream = try await bench.open("conversation", isWanted ? [bob] : [], by: ann)
                guard isWanted else { continue }
                wanted.append(stream)
                let topic = try StrictJSON.parse(#"{"topic":"news"}"#.utf8)
                _ = try await bench.context.changeSharedMetadata(.merge(topic), in: stream, for: ann)
            }
            let topic = [(parameter: "metadata.shared.topic", value: "news")]
            let filters: [(member: String?, metadata: [(parameter: String, value: String)])] = [
                ("test/bob", []), (nil, topic), ("test/bob", topic),
            ]
            for (member, metadata) in filters {
                let walked = try await Self.walk(bench, ann, member: member, metadata: metadata)
                #expect(walked.streams == wanted.reversed())
                let first = try #require(wanted.first)
                let moving = try await Self.walk(bench, ann, member: member, metadata: metadata) { page in
                    if page == 1 { try await bench.send("x", to: first, by: ann) }
                }
                #expect(Set(moving.streams) == Set(wanted))
                wanted = Array(wanted.dropFirst()) + [first]
            }
        }
    }

    @Test("takes the cursors that it returned, of the same list, and no others")
    func cursors() throws {
        let forum = MessageStreamID(UUID())
        for cursor in [
            MessageStreamCursor(isOfForums: false, .listed(before: .init(number: 5), anchor: 9)),
            .init(isOfForums: false, .changed(after: .init(number: 9))),
            .init(isOfForums: true, .listed(before: .init(number: 5, forum: forum), anchor: 9)),
            .init(isOfForums: true, .changed(after: .init(number: 9, forum: forum))),
            .init(isOfForums: true, .changed(after: .init(number: 0))),
        ] {
            #expect(MessageStreamCursor(cursor.text) == cursor)
            _ = try Filter(kind: cursor.isOfForums ? "forum" : nil, cursor: cursor.text)
            #expect(throws: Refusal.unknownCursor) {
                try Filter(kind: cursor.isOfForums ? nil : "forum", cursor: cursor.text)
            }
        }
        for text in [
            "", "own", "own x", "own -1", "own 5 x", "own 5 6 7", "own 5 6 ", "forums", "forums 5 x",
            "own 4503599627370496",
            "forums 5 \(forum) 6 7", "forums 5 \(forum) -1", "5", "5 6", " own 5",
        ] {
            #expect(MessageStreamCursor(Base64URL.encode(Array(text.utf8))) == nil, "\(text)")
        }
        #expect(MessageStreamCursor("own 5 6") == nil)
    }
}
