import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Streams of messages")
struct MessageStreamTests {
    private static let unknown = Refusal(.notFound, "")

    @Test(
        "carry the story of two users: request, approval, message, reply, receipt, and a ban that closes it",
        arguments: StoreKind.shared)
    func story(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            #expect(await bench.people.state { try await bench.open("direct", [bob], by: ann) } == "unauthorized")
            try await bench.permit(ann, bob)
            let stream = try await bench.open("direct", [bob], by: ann)
            let first = try await bench.send("hello", to: stream, by: ann)
            let reply = try await bench.send("hi", to: stream, by: bob, reply: first.id.description)
            let third = try await bench.send("so", to: stream, by: ann, reply: reply.id.description)
            #expect(reply.thread == first.id && third.thread == first.id && first.thread == nil)
            #expect(try await bench.read(stream, by: bob) == ["1 hello", "2 hi", "3 so"])
            let receipts = try await bench.context.acknowledgeMessages(
                delivered: nil, read: 2, in: stream, for: bob)
            #expect(receipts == (2, 2))
            let seen = try await bench.show(stream, to: ann)
            #expect(seen.members.first { $0.member.userID == bob.userID }?.member.readThrough == 2)
            #expect(seen.members.map(\.profile?.initials) == ["MS", "MS"])
            let order = try BanOrder(
                target: .user(bob.userID.description), scope: .messaging, reason: try #require(BanBench.spam),
                note: nil, endsAt: nil, withDevices: false)
            let admin = Administration(
                store: bench.context.store, environment: bench.context.environment, actor: "admin test"
            ) { bench.people.keys }
            _ = try await admin.addBan(order, upTo: nil)
            for person in [ann, bob] {
                #expect(await bench.people.state { try await bench.read(stream, by: person) } == "closed")
                #expect(try await bench.show(stream, to: person).state == .closed)
            }
            #expect(await bench.people.state { try await bench.send("x", to: stream, by: ann) } == "closed")
            await #expect(throws: Refusal(.userBanned, "", banReason: BanBench.spam)) {
                try await bench.send("x", to: stream, by: bob)
            }
        }
    }

    @Test("are as good as absent for strangers, other providers' users and whoever guesses ids, by one answer")
    func strangers() async throws {
        try await MessageBench.run { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let (eve, mallory) = (
                try await bench.people.person("eve"), try await bench.people.person("mallory", at: "other")
            )
            try await bench.permit(ann, bob)
            for kind in ["direct", "conversation"] {
                let stream = try await bench.open(kind, [bob], by: ann)
                let message = try await bench.send("secret", to: stream, by: ann).id.description
                for (name, call) in bench.calls(on: stream, message: message, about: bob) {
                    for person in [eve, mallory] {
                        await #expect(throws: Self.unknown, "\(kind) \(name)") { try await call(person) }
                    }
                }
                let absent = UUID().uuidString
                for id in [absent, "x", "", "\(stream) "] {
                    for (name, call) in bench.calls(on: id, message: message, about: bob) {
                        await #expect(throws: Self.unknown, "\(name) \(id)") { try await call(ann) }
                    }
                }
                // The id of a stream or a message is not taken over.
                let opening = try MessageBench.opening("forum", [], id: stream)
                for person in [eve, mallory, bob] {
                    await #expect(throws: Self.unknown) {
                        try await bench.context.openMessageStream(opening, for: person)
                    }
                }
                let again = try MessageBench.text("mine", id: message)
                await #expect(throws: Self.unknown) {
                    try await bench.context.appendMessage(again, to: stream, for: bob)
                }
                #expect(try await bench.read(stream, by: ann) == ["1 secret"])
            }
            let forum = try await bench.open("forum", by: ann)
            let message = try await bench.send("news", to: forum, by: ann).id.description
            #expect(try await bench.read(forum, by: eve) == ["1 news"])
            for (name, call) in bench.calls(on: forum, message: message, about: bob) {
                await #expect(throws: Self.unknown, "forum \(name)") { try await call(mallory) }
            }
            await #expect(throws: Self.unknown) { try await bench.context.deleteMessageStream(forum, for: eve) }
        }
    }

    @Test("give nobody away: an unknown user, another provider's, and one who permits nothing get one answer")
    func noOracle() async throws {
        try await MessageBench.run { bench in
            let ann = try await bench.people.person("ann")
            let (bob, mallory) = (
                try await bench.people.person("bob"), try await bench.people.person("mallory", at: "other")
            )
            try await bench.people.context.blockUser(ann.userID.description, for: bob)
            for kind in ["direct", "conversation"] {
                for name in [
                    bob.userID.description, mallory.userID.description, UUID().uuidString, "test/bob", "test/nobody",
                    "other/mallory", "none/x",
                ] {
                    let refused = await bench.people.state {
                        try await bench.context.openMessageStream(try MessageBench.opening(kind, [name]), for: ann)
                    }
                    #expect(refused == "unauthorized", "\(kind) \(name)")
                }
            }
        }
    }

    @Test("of the policy `provider` are open to all users but those who block")
    func openConversations() async throws {
        try await MessageBench.run {
            $0.streams.conversationRequires = .provider
        } _: { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let eve = try await bench.people.person("eve")
            let mallory = try await bench.people.person("mallory", at: "other")
            let stream = try await bench.open("conversation", [bob], by: ann)
            try await bench.add(eve, to: stream, by: bob)
            #expect(try await bench.show(stream, to: eve).members.count == 3)
            try await bench.remove(eve, from: stream, by: ann)
            try await bench.people.context.blockUser(ann.userID.description, for: eve)
            for person in [eve, mallory] {
                await #expect(throws: Self.unknown) { try await bench.add(person, to: stream, by: ann) }
                await #expect(throws: Self.unknown) { try await bench.open("conversation", [person], by: ann) }
            }
            await #expect(throws: Self.unknown) {
                try await bench.context.addMember(UUID().uuidString, to: stream, for: ann)
            }
        }
    }

    @Test("end for a removed member at the removal, and a new one sees everything", arguments: StoreKind.shared)
    func removed(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            try await bench.permit(ann, bob)
            let stream = try await bench.open("conversation", by: ann)
            let first = try await bench.send("one", to: stream, by: ann)
            try await bench.add(bob, to: stream, by: ann)
            #expect(try await bench.read(stream, by: bob) == ["1 one"])
            try await bench.remove(bob, from: stream, by: ann)
            try await bench.send("two", to: stream, by: ann)
            _ = try await bench.context.changeSharedMetadata(
                .merge(.object(["topic": .string("bob")])), in: stream, for: ann)
            #expect(try await bench.read(stream, by: bob) == ["1 one"])
            let seen = try await bench.show(stream, to: bob)
            #expect(seen.state == .left && seen.lastSequence == 1 && seen.members.isEmpty && seen.metadata == nil)
            #expect(try await bench.sync(for: bob).operations.allSatisfy { $0.view?.lastSequence == 1 })
            for (name, call) in bench.calls(on: stream, message: first.id.description, about: ann)
            where !["read", "show", "delete copy"].contains(name) {
                #expect(await bench.people.state { try await call(bob) } == "left", "\(name)")
            }
            try await bench.add(bob, to: stream, by: ann)
            #expect(try await bench.read(stream, by: bob) == ["1 one", "2 two"])
            try await bench.remove(bob, from: stream, by: bob)
            #expect(await bench.people.state { try await bench.send("x", to: stream, by: bob) } == "left")
        }
    }

    @Test("need the permission and the level at each append and each read")
    func permission() async throws {
        try await MessageBench.run { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let id = try await bench.permit(ann, bob)
            let stream = try await bench.open("direct", [bob], by: ann)
            try await bench.people.setLevel(.phone, of: bob)
            await #expect(throws: Refusal(.notVerified, "", reason: .caller)) {
                try await bench.send("x", to: stream, by: bob)
            }
            await #expect(throws: Refusal(.notVerified, "", reason: .partner)) {
                try await bench.send("x", to: stream, by: ann)
            }
            try await bench.people.setLevel(.barcode, of: bob)
            try await bench.send("one", to: stream, by: bob)
            _ = try await bench.people.context.cancelAuthorization(id, for: ann)
            for person in [ann, bob] {
                #expect(await bench.people.state { try await bench.send("x", to: stream, by: person) } == "closed")
                #expect(await bench.people.state { try await bench.read(stream, by: person) } == "closed")
            }
            try await bench.permit(bob, ann)
            #expect(try await bench.read(stream, by: ann) == ["1 one"])
            try await bench.people.context.blockUser(ann.userID.description, for: bob)
            #expect(await bench.people.state { try await bench.read(stream, by: ann) } == "closed")
            let carol = try await bench.people.person("carol", level: .none)
            let forum = try await bench.open("forum", by: ann)
            #expect(try await bench.read(forum, by: carol).isEmpty)
            await #expect(throws: Refusal(.notVerified, "", reason: .caller)) {
                try await bench.send("x", to: forum, by: carol)
            }
        }
    }

    @Test("answer a repeated request alike, and another one under its id by a conflict", arguments: StoreKind.shared)
    func repeated(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            try await bench.permit(ann, bob)
            let id = UUID().uuidString
            let opening = try MessageBench.opening("direct", ["test/bob"], id: id)
            let made = try await bench.context.openMessageStream(opening, for: ann)
            #expect(try await bench.context.openMessageStream(opening, for: ann) == made)
            let other = try MessageBench.opening("direct", ["test/bob"], id: id, title: "other")
            #expect(await bench.people.state { try await bench.context.openMessageStream(other, for: ann) } == "open")
            let message = try MessageBench.text("one")
            let sent = try await bench.context.appendMessage(message, to: id, for: ann)
            #expect(try await bench.context.appendMessage(message, to: id, for: ann) == sent)
            let changed = try MessageBench.text("two", id: sent.id.description)
            #expect(
                await bench.people.state { try await bench.context.appendMessage(changed, to: id, for: ann) } == "sent")
            #expect(try await bench.read(id, by: bob) == ["1 one"])
            try await bench.context.deleteMessage(sent.id.description, in: id, for: ann)
            try await bench.context.deleteMessage(sent.id.description, in: id, for: ann)
            #expect(
                await bench.people.state { try await bench.context.appendMessage(message, to: id, for: ann) }
                    == "deleted")
            #expect(try await bench.read(id, by: bob) == ["1 -"])
            try await bench.context.deleteMessageStream(id, for: bob)
            try await bench.context.deleteMessageStream(id, for: ann)
            #expect(
                await bench.people.state { try await bench.context.openMessageStream(opening, for: ann) } == "deleted")
            await #expect(throws: Self.unknown) { try await bench.read(id, by: ann) }
        }
    }

    @Test("refuse oneself among the members in the same words, whoever else is named")
    func oneself() async throws {
        try await MessageBench.run {
            $0.streams.conversationRequires = .provider
        } _: { bench in
            let ann = try await bench.people.person("ann")
            _ = try await bench.people.person("bob")
            for own in ["test/ann", ann.userID.description] {
                for other in ["test/bob", "test/nobody", UUID().uuidString, "other/x"] {
                    let opening = try MessageBench.opening("conversation", [other, own])
                    await #expect(throws: Refusal(.malformedRequest, ""), "\(other)") {
                        try await bench.context.openMessageStream(opening, for: ann)
                    }
                }
            }
        }
    }

    @Test("lose an erased user's messages, keep others', and are in the export", arguments: StoreKind.shared)
    func erasure(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            try await bench.permit(ann, bob)
            let stream = try await bench.open("conversation", [bob], by: ann)
            try await bench.send("of ann", to: stream, by: ann)
            try await bench.send("of bob", to: stream, by: bob)
            _ = try await bench.context.changeOwnMetadata(
                .merge(.object(["muted": .bool(true)])), in: stream, for: ann)
            let held = try await bench.context.exportPersonalData(for: ann).json
            guard case .array(let messages) = held["messages"], case .array(let streams) = held["streams"] else {
                Issue.record("the export has no messages")
                return
            }
            #expect(messages.count == 1 && messages[0].jsonText.contains("of ann"))
            #expect(streams.count == 1 && streams[0]["private_metadata"]?["muted"] == .bool(true))
            _ = try await bench.context.erasePersonalData(for: ann)
            #expect(try await bench.read(stream, by: bob) == ["1 -", "2 of bob"])
            #expect(try await bench.show(stream, to: bob).members.map(\.member.userID) == [bob.userID])
        }
    }
}
