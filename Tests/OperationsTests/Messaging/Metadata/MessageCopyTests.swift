import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Messages that a user deletes for the user only")
struct MessageCopyTests {
    @Test("disappear on all of the user's devices, and nobody else's", arguments: StoreKind.shared)
    func copies(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) {
            $0.streams.storedBytes = 1024
        } _: { bench in
            let (ann, bob, stream, message) = try await bench.conversation()
            let anchor = try await bench.sync(for: bob).anchor
            let bytes = try await bench.storedBytes(of: bob)
            try await bench.tag(.object(["a": .bool(true)]), message, isPrivate: true, by: bob)
            for _ in 0..<2 { try await bench.deleteCopy(of: message, by: bob) }
            #expect(try await bench.storedBytes(of: bob) == bytes)
            #expect(try await bench.read(stream, by: bob) == ["1 -"])
            #expect(try await bench.read(stream, by: ann) == ["1 hello"])
            for (person, isThere) in [(ann, true), (bob, false)] {
                let last = try #require(try await bench.show(stream, to: person).lastMessage)
                #expect((last.parts != nil) == isThere && (last.message.sealedBody != nil) == isThere)
            }
            let operations = try await bench.sync(anchor, for: bob).operations
            #expect(operations.map(\.change) == [.deleted] && operations[0].message == message.id)
            #expect(try await bench.sync(for: ann).operations.allSatisfy { $0.change != .deleted })
            // The sender's repetition is answered as before.
            let again = try MessageBench.text("hello", id: message.id.description)
            #expect(try await bench.context.appendMessage(again, to: stream, for: ann).sequence == 1)
        }
    }

    @Test("stay so for a removed member, who may still delete what was sent until then")
    func removed() async throws {
        try await MessageBench.run { bench in
            let (ann, bob, stream, message) = try await bench.conversation()
            try await bench.remove(bob, from: stream, by: ann)
            try await bench.deleteCopy(of: message, by: bob)
            #expect(try await bench.read(stream, by: bob) == ["1 -"])
            try await bench.add(bob, to: stream, by: ann)
            #expect(try await bench.read(stream, by: bob) == ["1 -"])
        }
    }

    @Test("are deleted on the user's devices even if the service no longer stores them")
    func expired() async throws {
        try await MessageBench.run { bench in
            let (ann, bob, stream, message) = try await bench.conversation()
            let anchor = try await bench.sync(for: bob).anchor
            _ = try await bench.context.store.write {
                try StreamMessageRepository($0).deleteBody(message, expiry: $0.now)
            }
            for _ in 0..<2 { try await bench.deleteCopy(of: message, by: bob) }
            let operations = try await bench.sync(anchor, for: bob).operations
            #expect(operations.map(\.change) == [.deleted] && operations[0].message == message.id)
            let range = try Service.MessageRange(after: "0", before: nil, limit: nil)
            for (person, isExpired) in [(ann, true), (bob, false)] {
                let views = try await bench.context.readMessages(range, of: stream, for: person).views
                #expect(views.map(\.message.isExpired) == [isExpired])
            }
        }
    }

    @Test("stay so in a store that was restored from before, and their metadata are gone")
    func restored() async throws {
        try await MessageBench.run(on: .sqlite) { bench in
            let (_, bob, stream, message) = try await bench.conversation()
            try await bench.tag(.object(["a": .bool(true)]), message, isPrivate: true, by: bob)
            let counted = try await bench.storedBytes(of: bob)
            try await bench.restored {
                try await bench.deleteCopy(of: message, by: bob)
            } then: { store, _ in
                let id = try #require(MessageStreamID(stream[...]))
                let (own, left) = try await store.read { transaction in
                    let found = try StreamMessageRepository(transaction).find(message.id, in: id)
                    let own = try found.flatMap {
                        try MessageMetadataRepository(transaction).own(of: $0, for: bob.userID)
                    }
                    return (own, try StreamUserRepository(transaction).storedBytes(of: bob.userID))
                }
                #expect(own != nil && own?.sealed == nil && left == counted - 256)
            }
        }
    }
}
