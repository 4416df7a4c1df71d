import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("What streams of messages cost")
struct MessageLimitTests {
    @Test("are bounded: streams, bytes, changes a minute and members")
    func quotas() async throws {
        try await MessageBench.run(rateLimiting: .on) {
            $0.streams.streamsPerUser = 2
            $0.streams.storedBytes = 65_536
            $0.streams.writesPerMinute = 8
            $0.streams.conversationRequires = .provider
        } _: { bench in
            let ann = try await bench.people.person("ann")
            let stream = try await bench.open("conversation", by: ann)
            _ = try await bench.open("forum", by: ann)
            #expect(await bench.people.state { try await bench.open("forum", by: ann) } == "full")
            let large = String(repeating: "x", count: 30_000)
            let first = try await bench.send(large, to: stream, by: ann)
            try await bench.send(large, to: stream, by: ann)
            #expect(await bench.people.state { try await bench.send(large, to: stream, by: ann) } == "full")
            try await bench.context.deleteMessage(first.id.description, in: stream, for: ann)
            try await bench.send(large, to: stream, by: ann)
            await #expect(throws: Refusal(.rateLimited, "")) { try await bench.send("x", to: stream, by: ann) }
            for index in 0..<24 {
                bench.people.clock.advance(60)
                try await bench.add(try await bench.people.person("p\(index)"), to: stream, by: ann)
            }
            bench.people.clock.advance(60)
            let late = try await bench.people.person("late")
            #expect(await bench.people.state { try await bench.add(late, to: stream, by: ann) } == "full")
        }
    }

    @Test("count refused and repeated changes, too, on both engines", arguments: StoreKind.shared)
    func countedRefusals(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind, rateLimiting: .on) {
            $0.streams.writesPerMinute = 4
        } _: { bench in
            let ann = try await bench.people.person("ann")
            let opening = try MessageBench.opening("conversation", [])
            let stream = opening.id.description
            _ = try await bench.context.openMessageStream(opening, for: ann)
            let message = try await bench.send("x", to: stream, by: ann).id.description
            let absent = UUID().uuidString
            for (name, call) in bench.calls(on: absent, message: absent, about: ann)
            where !["read", "show"].contains(name) {
                bench.people.clock.advance(60)
                for _ in 0..<4 { await #expect(throws: Refusal(.notFound, ""), "\(name)") { try await call(ann) } }
                await #expect(throws: Refusal(.rateLimited, ""), "\(name)") { try await call(ann) }
            }
            bench.people.clock.advance(60)
            for _ in 0..<4 { _ = try await bench.context.openMessageStream(opening, for: ann) }
            await #expect(throws: Refusal(.rateLimited, "")) {
                try await bench.context.openMessageStream(opening, for: ann)
            }
            bench.people.clock.advance(60)
            for _ in 0..<4 {
                _ = try await bench.context.appendMessage(
                    try MessageBench.text("x", id: message), to: stream, for: ann)
            }
            await #expect(throws: Refusal(.rateLimited, "")) { try await bench.send("y", to: stream, by: ann) }
        }
    }

    @Test("keep a deleted message's smallest size in the quota, so that it bounds rows", arguments: StoreKind.shared)
    func deletedSizes(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) {
            $0.streams.storedBytes = 1024
        } _: { bench in
            let ann = try await bench.people.person("ann")
            let (stream, other) = (
                try await bench.open("conversation", by: ann), try await bench.open("conversation", by: ann)
            )
            for _ in 0..<4 {
                let message = try await bench.send("x", to: stream, by: ann).id.description
                try await bench.context.deleteMessage(message, in: stream, for: ann)
            }
            #expect(await bench.people.state { try await bench.send("x", to: other, by: ann) } == "full")
            try await bench.context.deleteMessageStream(stream, for: ann)
            _ = try await bench.context.store.write { try MessageStreamRepository($0).empty(MaintenanceBatch()) }
            try await bench.send("x", to: other, by: ann)
        }
    }

    @Test("are exported without what was deleted, outside of any write, and three times an hour")
    func export() async throws {
        try await MessageBench.run(rateLimiting: .on) { bench in
            let ann = try await bench.people.person("ann")
            let counter = StatementCounter(bench.context.store)
            let service = bench.anotherNode(over: counter).context
            _ = try await service.exportPersonalData(for: ann)
            let before = counter.take()
            let stream = try await bench.open("conversation", by: ann)
            let gone = try await bench.send("gone", to: stream, by: ann).id.description
            for index in 0..<20 { try await bench.send("\(index)", to: stream, by: ann) }
            try await bench.context.deleteMessage(gone, in: stream, for: ann)
            let held = try await service.exportPersonalData(for: ann).json
            #expect(counter.take().statements == before.statements)
            guard case .array(let messages) = held["messages"] else {
                Issue.record("the export has no messages")
                return
            }
            #expect(messages.count == 20 && !messages.contains { $0["parts"] == .null })
            _ = try await service.exportPersonalData(for: ann)
            await #expect(throws: Refusal(.rateLimited, "")) { try await service.exportPersonalData(for: ann) }
        }
    }

    @Test("read a stream once for an answer, however often it occurs in it")
    func statements() async throws {
        try await MessageBench.run {
            $0.streams.conversationRequires = .provider
        } _: { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let counter = StatementCounter(bench.context.store)
            let counted = bench.anotherNode(over: counter)
            let stream = try await bench.open("conversation", [bob], by: ann)
            try await bench.send("x", to: stream, by: ann)
            _ = try await counted.sync(for: ann)
            let one = counter.take().reads
            _ = try await bench.context.acknowledgeMessages(delivered: 1, read: 1, in: stream, for: bob)
            try await bench.add(try await bench.people.person("cat"), to: stream, by: ann)
            try await bench.remove(bob, from: stream, by: ann)
            let answer = try await counted.sync(for: ann)
            #expect(Set(answer.operations.map(\.change)) == [.newMessage, .updateStatus, .members])
            #expect(counter.take().reads == one)
            _ = try await bench.context.changeSharedMetadata(.set(.empty), in: stream, for: ann)
            #expect(try await counted.sync(for: ann).operations.count == 4)
            // Its metadata, the user's own, and the key to open the former.
            #expect(counter.take().reads <= one + 4)
        }
    }

    @Test(
        "have the time of their last message in an index only where they are listed by it", arguments: StoreKind.shared)
    func changeTimes(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let ann = try await bench.people.person("ann")
            for (kind, moves) in [("conversation", false), ("forum", true)] {
                let stream = try await bench.open(kind, by: ann)
                func changedAt() async throws -> Int64? {
                    try await bench.context.store.read {
                        try $0.first("SELECT changed_at FROM streams WHERE id = $1", [.text(stream)])?.integer(0)
                    }
                }
                let before = try await changedAt()
                bench.people.clock.advance(5)
                try await bench.send("x", to: stream, by: ann)
                #expect((try await changedAt() != before) == moves, "\(kind)")
            }
        }
    }
}
