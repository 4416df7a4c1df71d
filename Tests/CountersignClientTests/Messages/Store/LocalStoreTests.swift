import CountersignClient
import Fixtures
import Foundation
import GRDB
import Testing

@testable import CountersignSync

/// The store of a device without a service: what its triggers note, and what pages of the service make of it.
@Suite("Messages on the device")
struct LocalStoreTests {
    static let (ann, bob, stream) = (UUID(), UUID(), UUID())
    static let now = Date(timeIntervalSince1970: 1_790_000_000)

    /// A client that is never connected.
    func local(_ file: URL? = nil, user: UUID = LocalStoreTests.ann) async throws -> LocalStreams {
        let place = try ScratchDirectory()
        let nowhere = try #require(URL(string: "https://127.0.0.1:1"))
        let client = Countersign(
            Service(publicURL: nowhere, clientURL: nowhere, pins: [], roots: .system),
            keys: FileKeys(directory: URL(filePath: place.file("keys"))),
            store: FileStore(file: URL(filePath: place.file("secret.json"))))
        return try await LocalStreams(file: file, user: user, client: client, now: Self.now)
    }

    static func row(
        _ last: Int64, state: String = "open", metadata: String? = nil, of stream: UUID = LocalStoreTests.stream,
        title: String = "T", name: String? = nil, delivered: Int64 = 0, storage: String = "keep"
    ) throws -> MessageStream {
        let both = [ann, bob].map { user in
            let names = name.map { #""address":"devices/\#(user)","display_name":"\#($0)","initials":null,"# } ?? ""
            let receipts = #""delivered_through":\#(delivered),"read_through":0"#
            return #"{"user_id":"\#(user)",\#(names)"assurance":"phone",\#(receipts)}"#
        }
        let values = metadata.map { #","metadata":\#($0),"private_metadata":{}"# } ?? ""
        let text = """
            {"id":"\(stream)","kind":"conversation","state":"\(state)","created_by":"\(bob)",
            "created_at":"2026-11-22T09:00:00Z","title":"\(title)","description":null,"image_url":null,
            "last_sequence":\(last),"unread":0,"last_event":null,"members":[\(both.joined(separator: ","))],
            "message_storage":"\(storage)"\(values)}
            """
        return try JSONDecoder.service.decode(MessageStream.self, from: Data(text.utf8))
    }

    static func message(_ sequence: Int64, _ text: String, id: UUID = UUID()) -> StreamMessage {
        StreamMessage(
            sequence: sequence, id: id, sender: bob, sentAt: now.addingTimeInterval(Double(sequence)),
            parts: [.text(text)])
    }

    static func page(_ messages: [StreamMessage], last: Int64) throws -> Streams.Messages {
        struct Page: Encodable {
            let events: [StreamMessage]
            let more = false
            let last: Int64

            enum CodingKeys: String, CodingKey {
                case events, more
                case last = "last_sequence"
            }
        }
        return try JSONDecoder().decode(
            Streams.Messages.self, from: try JSONEncoder().encode(Page(events: messages, last: last)))
    }

    func take(
        _ operations: [SyncOperation], _ local: LocalStreams, to anchor: String, hasMore: Bool = false
    ) async throws {
        try await local.write { store in
            try store.apply(
                SyncPage(anchor: anchor, hasMore: hasMore, operations: operations), since: try store.anchor(),
                at: Self.now)
        }
    }

    func count(_ table: String, _ local: LocalStreams) async throws -> Int {
        try await local.read { try Int.fetchOne($0.connection, sql: "SELECT COUNT(*) FROM \(table)") ?? -1 }
    }

    func texts(_ local: LocalStreams) async throws -> [String] {
        try await local.messages(in: Self.stream).sections.flatMap(\.messages).map(\.text)
    }

    @Test("notes what the user changes, and nothing that the service says")
    func triggers() async throws {
        let local = try await local()
        try await take([SyncOperation(.newMessage, Self.stream, stream: try Self.row(2))], local, to: "a.1")
        let page = try Self.page([Self.message(1, "one"), Self.message(2, "two")], last: 2)
        try await local.write { try $0.take(page, of: Self.stream, .newest) }
        #expect(try await count("syncable_changes", local) == 0)
        #expect(try await count("unprocessed_events", local) == 0)
        #expect(try await texts(local) == ["two", "one"])
        try await local.send(NewMessage([.text("three")]), to: Self.stream)
        try await local.markRead(Self.stream)
        try await local.markRead(Self.stream, through: 1)
        try await local.set(.object(["a": .integer(1)]), of: Self.stream)
        #expect(try await count("syncable_changes", local) == 3)
        #expect(try await texts(local) == ["three", "two", "one"])
        #expect(try await !local.isReconciled())
        let events = try await local.write { store in
            try store.reconcileOutbound()
            return try store.pending().map(\.event.name)
        }
        #expect(events.count == 3 && events[1...] == ["read", "metadata"])
        #expect(try await count("syncable_changes", local) == 0)
    }

    @Test("keeps an event in its queue whose conversation is not known yet")
    func queue() async throws {
        let local = try await local()
        let page = try Self.page([Self.message(1, "early")], last: 1)
        try await local.write { try $0.take(page, of: Self.stream, .newest) }
        #expect(try await count("unprocessed_events", local) == 1)
        #expect(try await texts(local) == [])
        try await take([SyncOperation(.newMessage, Self.stream, stream: try Self.row(1))], local, to: "a.1")
        try await local.write { store in try store.quietly { try store.processEvents() } }
        #expect(try await count("unprocessed_events", local) == 0)
        #expect(try await texts(local) == ["early"])
    }

    @Test("shows an own message once, whether its answer or its page comes first")
    func once() async throws {
        let local = try await local()
        try await take([SyncOperation(.newMessage, Self.stream, stream: try Self.row(0))], local, to: "a.1")
        let mine = NewMessage([.text("mine")])
        try await local.send(mine, to: Self.stream)
        let pending = try await local.write { store in
            try store.reconcileOutbound()
            let one = try #require(try store.pending().first)
            #expect(try store.count(one))
            return one
        }
        // The answer is lost, and the page has it.
        let page = try Self.page([Self.message(1, "mine", id: mine.id)], last: 1)
        try await local.write { try $0.take(page, of: Self.stream, .newest) }
        #expect(try await texts(local) == ["mine"])
        #expect(try await local.isReconciled())
        let sent = try JSONDecoder.service.decode(
            SentMessage.self, from: Data(#"{"sequence":1,"sent_at":"2026-11-22T09:00:00Z"}"#.utf8))
        try await local.write { try $0.confirm(pending, sent) }
        try await local.write { try $0.take(page, of: Self.stream, .after) }
        #expect(try await texts(local) == ["mine"])
        #expect(try await count("events", local) == 1)
    }

    @Test("keeps what the user wrote on top of what the service says")
    func conflicts() async throws {
        let local = try await local()
        let row = try Self.row(5, metadata: #"{"a":1,"b":1}"#)
        try await take([SyncOperation(.updateTags, Self.stream, stream: row)], local, to: "a.1")
        try await local.set(.object(["a": .integer(2), "b": .integer(1)]), of: Self.stream)
        try await local.markRead(Self.stream, through: 4)
        // Another device has changed another name meanwhile, and has read less.
        let newer = try Self.row(5, metadata: #"{"a":1,"b":3}"#)
        try await take([SyncOperation(.updateTags, Self.stream, stream: newer)], local, to: "a.2")
        #expect(try await local.metadata(of: Self.stream) == .object(["a": .integer(2), "b": .integer(3)]))
        #expect(try await local.conversations().first?.unread == 1)
        // A page that does not go on from here changes nothing.
        try await local.write { store in
            try store.apply(SyncPage(anchor: "a.9", hasMore: false, operations: []), since: "a.1", at: Self.now)
        }
        let anchor = try await local.read { try $0.anchor() }
        #expect(anchor == "a.2")
        // A refusal gives back what the service knows.
        let one = try await local.write { store in
            try #require(try store.pending().first { $0.event.name == "metadata" })
        }
        try await local.write { try $0.refuse(one, "closed") }
        #expect(try await local.metadata(of: Self.stream) == .object(["a": .integer(1), "b": .integer(3)]))
    }

    @Test("begins anew after a restore of the service's store, and keeps what was not sent")
    func restart() async throws {
        let local = try await local()
        let gone = UUID()
        let old = try Self.row(2)
        try await take([SyncOperation(.newMessage, Self.stream, stream: old)], local, to: "a.7")
        let page = try Self.page([Self.message(1, "kept"), Self.message(2, "lost")], last: 2)
        try await local.write { try $0.take(page, of: Self.stream, .newest) }
        try await local.open(StreamOpening(.conversation, members: [], id: gone))
        try await local.send(NewMessage([.text("waiting")]), to: Self.stream)
        try await take(
            [SyncOperation(.newMessage, Self.stream, stream: try Self.row(1))], local, to: "b.1", hasMore: true)
        #expect(try await texts(local) == ["waiting"])
        let restored = try Self.page([Self.message(1, "kept")], last: 1)
        try await local.write { try $0.take(restored, of: Self.stream, .newest) }
        try await take([], local, to: "b.2")
        #expect(try await texts(local) == ["waiting", "kept"])
        #expect(Set(try await local.conversations().map(\.id)) == [Self.stream, gone])
        // What the whole listing does not name is gone.
        try await take([], local, to: "c.1")
        #expect(try await local.conversations().map(\.id) == [gone])
    }

    @Test("forgets what was deleted, and of an erased member everything that cannot be fetched anew")
    func deletions() async throws {
        let local = try await local()
        try await take([SyncOperation(.newMessage, Self.stream, stream: try Self.row(2))], local, to: "a.1")
        let messages = [Self.message(1, "one"), Self.message(2, "two")]
        let page = try Self.page(messages, last: 2)
        try await local.write { try $0.take(page, of: Self.stream, .newest) }
        try await take([SyncOperation(.deleted, Self.stream, message: messages[0].id)], local, to: "a.2")
        #expect(try await texts(local) == ["two", ""])
        let closed = try Self.row(2, state: "closed")
        try await take([SyncOperation(.erased, Self.stream, stream: closed)], local, to: "a.3")
        #expect(try await texts(local) == ["", ""])
        try await take([SyncOperation(.erased, Self.stream, stream: try Self.row(2))], local, to: "a.4")
        let fetches = try await local.read { Synchronizer.fetches(try $0.progress()) }
        #expect(try await texts(local) == [])
        #expect(fetches == [.newest(Self.stream)])
        try await take([SyncOperation(.deleted, Self.stream)], local, to: "a.5")
        #expect(try await local.conversations().isEmpty)
        for table in ["streams", "events", "messages", "participants"] { #expect(try await count(table, local) == 0) }
    }

    @Test("reports for itself what the service stores until all devices have it, and keeps it once that has expired")
    func storage() async throws {
        let local = try await local()
        for (number, storage) in [(1, "keep"), (2, "until_delivered")] as [(Int64, String)] {
            let stream = SyncOperation(
                .newMessage, Self.stream, stream: try Self.row(2, delivered: 2, storage: storage))
            try await take([stream], local, to: "a.\(number)")
            let page = try Self.page([Self.message(1, "one"), Self.message(2, "two")], last: 2)
            try await local.write { try $0.take(page, of: Self.stream, .newest) }
            let deliveries = try await local.read { try $0.deliveries().map(\.through) }
            #expect(deliveries == (storage == "keep" ? [] : [2]))
        }
        try await local.write { try $0.delivered(Self.stream, through: 2) }
        #expect(try await local.read { try $0.deliveries() }.isEmpty)
        let known = try await local.read { store in
            try String.fetchOne(store.connection, sql: "SELECT message_id FROM messages WHERE sequence = 2") ?? ""
        }
        let expired = StreamMessage(
            sequence: 2, id: try #require(UUID(uuidString: known)), sender: Self.bob, sentAt: Self.now, isExpired: true,
            parts: nil)
        let page = try Self.page([expired], last: 2)
        try await local.write { try $0.take(page, of: Self.stream, .before) }
        #expect(try await texts(local) == ["two", "one"])
    }

    @Test("is there after a restart of the app, and not for another user")
    func restartOfTheApp() async throws {
        let place = try ScratchDirectory()
        let file = URL(filePath: place.file("streams.db"))
        let first = try await local(file)
        try await first.open(StreamOpening(.conversation, members: [], title: "Mine", id: Self.stream))
        try await first.send(NewMessage([.text("one")]), to: Self.stream)
        let second = try await local(file)
        #expect(try await second.conversations().map(\.title) == ["Mine"])
        #expect(try await texts(second) == ["one"])
        #expect(try await second.conversations().first?.last?.status == .waiting)
        let other = try await local(file, user: Self.bob)
        #expect(try await other.conversations().isEmpty)
        #expect(try await other.isReconciled())
    }
}

extension JSONDecoder {
    /// As the SDK reads answers.
    static var service: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}
