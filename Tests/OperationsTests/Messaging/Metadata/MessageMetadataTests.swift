import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Metadata of messages")
struct MessageMetadataTests {
    private static let none = JSONValue.object([])
    private static let unknown = Refusal(.notFound, "")

    private static func patch(_ name: String, _ value: JSONValue = .bool(true)) -> JSONValue {
        .object([JSONMember(name: name, value: value)])
    }

    @Test("of different names all survive, whoever sets them at the same time", arguments: StoreKind.shared)
    func merges(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob, stream, message) = try await bench.conversation()
            let other = bench.anotherNode()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        let (node, person) = (index % 2 == 0 ? bench : other, index % 4 < 2 ? ann : bob)
                        try await node.tag(Self.patch("k\(index)"), message, by: person)
                    }
                }
                try await group.waitForAll()
            }
            let shared = try #require(try await bench.tags(stream, by: bob)[1]?[0])
            for index in 0..<8 { #expect(shared["k\(index)"] == .bool(true)) }
            let left = try await bench.tag(Self.patch("k0", .null), message, by: bob)
            #expect(left["k0"] == nil && left["k1"] == .bool(true))
        }
    }

    @Test(
        "reach the devices of those who see them, with the message and by synchronization", arguments: StoreKind.shared)
    func readers(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob, stream, message) = try await bench.conversation()
            let before = (ann: try await bench.sync(for: ann).anchor, bob: try await bench.sync(for: bob).anchor)
            try await bench.tag(Self.patch("heart"), message, by: bob)
            try await bench.tag(Self.patch("later"), message, isPrivate: true, by: bob)
            #expect(try await bench.tags(stream, by: ann) == [1: [Self.patch("heart"), Self.none]])
            #expect(try await bench.tags(stream, by: bob) == [1: [Self.patch("heart"), Self.patch("later")]])
            for (person, anchor, own) in [(ann, before.ann, Self.none), (bob, before.bob, Self.patch("later"))] {
                let operations = try await bench.sync(anchor, for: person).operations
                #expect(operations.map(\.change) == [.updateTags] && operations[0].view == nil)
                #expect(operations[0].message == message.id && operations[0].stream == message.streamID)
                let seen = try #require(operations[0].metadata)
                #expect(seen.sequence == 1 && seen.shared.value == Self.patch("heart") && seen.own.value == own)
            }
            // A change without an effect is none.
            let after = try await bench.sync(for: ann).anchor
            try await bench.tag(Self.patch("heart"), message, by: ann)
            #expect(try await bench.sync(after, for: ann).operations.isEmpty)
        }
    }

    @Test("end with the membership, and begin again with it", arguments: StoreKind.shared)
    func membership(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob, stream, message) = try await bench.conversation()
            try await bench.tag(Self.patch("seen"), message, by: ann)
            try await bench.tag(Self.patch("mine"), message, isPrivate: true, by: bob)
            try await bench.remove(bob, from: stream, by: ann)
            try await bench.tag(Self.patch("later"), message, by: ann)
            #expect(try await bench.tags(stream, by: bob).isEmpty)
            #expect(try await bench.sync(for: bob).operations.allSatisfy { $0.metadata == nil })
            for isPrivate in [false, true] {
                let state = await bench.people.state {
                    try await bench.tag(Self.patch("x"), message, isPrivate: isPrivate, by: bob)
                }
                #expect(state == "left")
            }
            let late = try await bench.send("late", to: stream, by: ann)
            await #expect(throws: Self.unknown) { try await bench.deleteCopy(of: late, by: bob) }
            try await bench.add(bob, to: stream, by: ann)
            let shared = JSONValue.object(["seen": .bool(true), "later": .bool(true)])
            #expect(try await bench.tags(stream, by: bob)[1] == [shared, Self.patch("mine")])
        }
    }

    @Test("are all users' in a forum, which has none that are private")
    func forums() async throws {
        try await MessageBench.run { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let forum = try await bench.open("forum", by: ann)
            let message = try await bench.send("news", to: forum, by: ann)
            try await bench.tag(Self.patch("heart"), message, by: bob)
            #expect(try await bench.tags(forum, by: ann) == [1: [Self.patch("heart"), Self.none]])
            #expect(
                await bench.people.state { try await bench.tag(Self.patch("x"), message, isPrivate: true, by: bob) }
                    == "unsupported")
            #expect(await bench.people.state { try await bench.deleteCopy(of: message, by: bob) } == "unsupported")
        }
    }

    @Test("have bounds, and are counted in the quota of the last writer until they end", arguments: StoreKind.shared)
    func quotas(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) {
            $0.streams.storedBytes = 2048
        } _: { bench in
            let (ann, bob, stream, message) = try await bench.conversation()
            let names = JSONValue.object((0..<51).map { JSONMember(name: "k\($0)", value: .null) })
            let long = Self.patch("l", .string(String(repeating: "x", count: 4096)))
            for bad in [names, long, .array([])] {
                for isPrivate in [false, true] {
                    await #expect(throws: Refusal(.malformedRequest, "")) {
                        try await bench.tag(bad, message, isPrivate: isPrivate, by: ann)
                    }
                }
                let change = Service.MetadataChange.set(StreamMetadata(stored: bad))
                await #expect(throws: Refusal(.malformedRequest, "")) {
                    _ = try await bench.context.changeSharedMessageMetadata(
                        change, of: message.id.description, in: stream, for: ann)
                }
            }
            let (annBefore, bobBefore) = (try await bench.storedBytes(of: ann), try await bench.storedBytes(of: bob))
            try await bench.tag(Self.patch("a"), message, by: ann)
            #expect(try await bench.storedBytes(of: ann) == annBefore + 256)
            try await bench.tag(Self.patch("b"), message, by: bob)
            #expect(try await bench.storedBytes(of: ann) == annBefore)
            #expect(try await bench.storedBytes(of: bob) == bobBefore + 256)
            try await bench.tag(Self.patch("c"), message, isPrivate: true, by: bob)
            #expect(try await bench.storedBytes(of: bob) == bobBefore + 512)
            let large = Self.patch("l", .string(String(repeating: "x", count: 2000)))
            #expect(await bench.people.state { try await bench.tag(large, message, by: bob) } == "full")
            #expect(
                await bench.people.state { try await bench.tag(large, message, isPrivate: true, by: bob) } == "full")
            try await bench.tag(.object(["a": .null, "b": .null]), message, by: ann)
            #expect(try await bench.storedBytes(of: bob) == bobBefore + 256)
            try await bench.tag(Self.patch("b"), message, by: bob)
            try await bench.context.deleteMessage(message.id.description, in: stream, for: ann)
            #expect(try await bench.storedBytes(of: bob) == bobBefore)
            let second = try await bench.send("again", to: stream, by: ann)
            for isPrivate in [false, true] {
                try await bench.tag(Self.patch("b"), second, isPrivate: isPrivate, by: bob)
            }
            try await bench.context.deleteMessageStream(stream, for: ann)
            var (rounds, isFinished) = (0, false)
            while !isFinished, rounds < 10 {
                isFinished = try await bench.context.store.write {
                    try MessageStreamRepository($0).empty(MaintenanceBatch(limit: 1)).isFinished
                }
                rounds += 1
            }
            #expect(isFinished)
            #expect(try await bench.storedBytes(of: bob) == bobBefore)
        }
    }

    @Test("of a message that was deleted, by its sender or for the user, are gone and cannot be set")
    func deleted() async throws {
        try await MessageBench.run { bench in
            let (ann, bob, stream, message) = try await bench.conversation()
            let other = try await bench.send("other", to: stream, by: bob)
            for one in [message, other] { try await bench.tag(Self.patch("a"), one, by: ann) }
            let anchor = try await bench.sync(for: bob).anchor
            for one in [message, other] { try await bench.tag(Self.patch("b"), one, isPrivate: true, by: bob) }
            try await bench.context.deleteMessage(message.id.description, in: stream, for: ann)
            try await bench.deleteCopy(of: other, by: bob)
            #expect(try await bench.tags(stream, by: bob).isEmpty)
            let operations = try await bench.sync(anchor, for: bob).operations
            #expect(operations.map(\.change) == [.deleted, .deleted])
            for one in [message, other] {
                for isPrivate in [false, true] {
                    await #expect(throws: Self.unknown) {
                        try await bench.tag(Self.patch("c"), one, isPrivate: isPrivate, by: bob)
                    }
                }
            }
            #expect(try await bench.tags(stream, by: ann) == [2: [Self.patch("a"), Self.none]])
        }
    }

    @Test("of equal message ids in two streams are separate, and so are the deletions", arguments: StoreKind.shared)
    func equalIDs(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob, first, message) = try await bench.conversation()
            let second = try await bench.open("conversation", [bob], by: ann)
            let text = try MessageBench.text("copy", id: message.id.description)
            let copy = try await bench.context.appendMessage(text, to: second, for: ann)
            try await bench.tag(Self.patch("a"), message, by: ann)
            try await bench.tag(Self.patch("b"), copy, by: ann)
            let changed = try await bench.sync(for: bob).operations.filter { $0.change == .updateTags }
            #expect(changed.map(\.stream) == [message.streamID, copy.streamID])
            #expect(changed.map { $0.metadata?.shared.value } == [Self.patch("a"), Self.patch("b")])
            for stream in [first, second] {
                try await bench.context.deleteMessage(message.id.description, in: stream, for: ann)
            }
            let deleted = try await bench.sync(for: bob).operations.filter { $0.change == .deleted }
            #expect(deleted.map(\.stream) == [message.streamID, copy.streamID])
        }
    }

    @Test("are exported if they are private, and end with the user's erasure", arguments: StoreKind.shared)
    func erasure(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob, stream, message) = try await bench.conversation()
            let other = try await bench.send("other", to: stream, by: bob)
            for one in [message, other] {
                try await bench.tag(Self.patch("own"), one, isPrivate: true, by: ann)
                try await bench.tag(Self.patch("all"), one, by: one == message ? bob : ann)
            }
            try await bench.tag(Self.patch("bob"), message, isPrivate: true, by: bob)
            let exported = try await bench.context.exportPersonalData(for: ann).json["message_metadata"]
            guard case .array(let rows) = exported else {
                Issue.record("the export has no metadata of messages")
                return
            }
            #expect(rows.map { $0["id"]?.text } == [message, other].map(\.id.description))
            #expect(rows.allSatisfy { $0["private_metadata"] == Self.patch("own") })
            let before = try await bench.storedBytes(of: bob)
            _ = try await bench.context.erasePersonalData(for: ann)
            // Others still see what an erased user added to their messages.
            #expect(try await bench.tags(stream, by: bob) == [2: [Self.patch("all"), Self.none]])
            #expect(try await bench.storedBytes(of: bob) == before - 512)
            let rowsLeft = try await bench.context.store.read { transaction in
                try ["stream_event_metadata", "stream_event_readers"].map {
                    try transaction.query("SELECT 1 FROM \($0)", []).count
                }
            }
            #expect(rowsLeft == [1, 0])
        }
    }
}
