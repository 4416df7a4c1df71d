import Database
import Delivery
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// What reaches members besides the messages themselves: who is writing, pushes, and what is gone.
@Suite("Notices of streams")
struct MessageNoticeTests {
    /// Ann and Bob, who permit each other messages, and a direct stream of theirs.
    private func pair(_ bench: MessageBench) async throws -> (ann: Session, bob: Session, stream: String) {
        let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
        try await bench.permit(ann, bob)
        return (ann, bob, try await bench.open("direct", [bob], by: ann))
    }

    /// Waits for a change, ten seconds at most.
    private func waiting(
        _ bench: MessageBench, _ anchor: Service.SyncAnchor, _ session: Session
    ) async throws -> Task<Service.SyncAnswer, any Error> {
        let answer = Task { try await bench.sync(anchor, wait: 10, for: session) }
        while !bench.context.node.typing.holds(session.userID) { await Task.yield() }
        return answer
    }

    @Test("show who is writing to those who wait, on every node, once a second, and keep nothing")
    func typing() async throws {
        try await MessageBench.run {
            $0.streams.pollWait = 10
        } _: { first in
            let (ann, bob, stream) = try await pair(first)
            let second = first.anotherNode()
            for node in [first, second] { try await node.context.invalidator.poll() }
            let anchor = try await first.sync(for: bob).anchor
            #expect(try await first.sync(.latest, wait: 10, for: bob).anchor == anchor)
            let (here, there) = (try await waiting(first, anchor, bob), try await waiting(second, anchor, bob))
            let notices = first.context.node.typing
            let seat = notices.enter(bob.userID)
            try await first.context.sayTyping(in: stream, for: ann)
            // Its own node shows it once too, when it reads the change log.
            let early = notices.take(bob.userID, seat)
            for node in [first, second] { try await node.context.invalidator.poll() }
            #expect((early + notices.take(bob.userID, seat)).map(\.user) == [ann.userID])
            notices.leave(bob.userID, seat)
            for answer in [here, there] {
                let found = try await answer.value
                #expect(found.operations.isEmpty && found.anchor == anchor)
                #expect(found.typing.map(\.user) == [ann.userID] && found.typing.map { "\($0.stream)" } == [stream])
            }
            // Whoever comes later finds nothing.
            let late = try await waiting(first, anchor, bob)
            try await first.send("there", to: stream, by: ann)
            let found = try await late.value
            #expect(found.typing.isEmpty && found.operations.map(\.change) == [.newMessage])
        }
    }

    @Test("of writing come from members who may write alone")
    func strangers() async throws {
        try await MessageBench.run { bench in
            let (ann, bob, stream) = try await pair(bench)
            let forum = try await bench.open("forum", by: ann)
            try await bench.context.sayTyping(in: stream, for: bob)
            let eve = try await bench.people.person("eve")
            for _ in 0..<2 {
                await #expect(throws: Refusal(.notFound, "")) {
                    try await bench.context.sayTyping(in: stream, for: eve)
                }
            }
            await #expect(throws: Refusal(.notFound, "")) { try await bench.context.sayTyping(in: "x", for: ann) }
            await #expect(throws: Refusal(.conflict, "", state: "unsupported")) {
                try await bench.context.sayTyping(in: forum, for: ann)
            }
            try await bench.people.context.blockUser(ann.userID.description, for: bob)
            await #expect(throws: Refusal(.conflict, "", state: "closed")) {
                try await bench.context.sayTyping(in: stream, for: ann)
            }
        }
    }

    @Test("are bounded: a place takes so many, and a second has its end")
    func bounds() {
        let notices = TypingNotices()
        let (user, start) = (UserID(UUID()), ContinuousClock.now)
        let place = notices.enter(user)
        let all = (0..<100).map { _ in TypingNotices.Notice(stream: MessageStreamID(UUID()), user: UserID(UUID())) }
        for notice in all { #expect(notices.show(notice, to: [user, UserID(UUID())]) == [user]) }
        #expect(notices.take(user, place).count == 64 && notices.take(user, place).isEmpty)
        notices.leave(user, place)
        #expect(notices.show(all[0], to: [user]).isEmpty && !notices.holds(user))
        #expect(notices.permits(user, at: start) && !notices.permits(user, at: start + .milliseconds(999)))
        #expect(notices.permits(all[0].user, at: start) && notices.permits(user, at: start + .seconds(1)))
    }

    @Test(
        "are one push for each stream until a device comes, without a word of the messages", arguments: StoreKind.shared
    )
    func pushes(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob, stream) = try await pair(bench)
            let people = bench.people
            _ = try await people.deliver()
            let before = people.pushes.sent.count
            for text in ["secret one", "secret two"] { try await bench.send(text, to: stream, by: ann) }
            _ = try await people.deliver()
            #expect(people.pushes.sent.count == before)
            people.clock.advance(PushMessages.patience)
            _ = try await people.deliver()
            try await bench.send("secret three", to: stream, by: ann)
            people.clock.advance(PushMessages.patience)
            _ = try await people.deliver()
            #expect(people.pushes.endpoints.dropFirst(before) == ["bob"])
            let push = try people.pushes.data()
            #expect(push["type"]?.text == "MESSAGE")
            #expect(push["stream_id"]?.text == stream && push["last_sequence"]?.text == "2")
            #expect(push["user_id"]?.text == ann.userID.description && push["address"]?.text == "test/ann")
            #expect(push["display_name"]?.text == "Person ann" && push["initials"]?.text == "MS")
            #expect(push["picture_url"]?.text == "https://pictures.example/ann.png")
            let payload = try #require(people.pushes.sent.last?.payload)
            for secret in AuthorizationBench.secrets + ["secret"] { #expect(!payload.contains(secret)) }
            // A device came, and the next message is another push; one that a device has at once is none.
            _ = try await bench.context.acknowledgeMessages(delivered: 3, read: nil, in: stream, for: bob)
            try await bench.send("four", to: stream, by: ann)
            people.clock.advance(PushMessages.patience)
            _ = try await people.deliver()
            _ = try await bench.context.acknowledgeMessages(delivered: 4, read: nil, in: stream, for: bob)
            try await bench.send("five", to: stream, by: ann)
            _ = try await bench.context.acknowledgeMessages(delivered: 5, read: nil, in: stream, for: bob)
            people.clock.advance(PushMessages.patience)
            _ = try await people.deliver()
            #expect(people.pushes.endpoints.dropFirst(before) == ["bob", "bob"])
        }
    }

    @Test("are one push for what came after a device's report, ten seconds later, and none for what came before")
    func reported() async throws {
        try await MessageBench.run { bench in
            let (ann, bob, stream) = try await pair(bench)
            let people = bench.people
            _ = try await people.deliver()
            let before = people.pushes.sent.count
            func sent() -> Int { people.pushes.sent.count - before }
            try await bench.send("one", to: stream, by: ann)
            people.clock.advance(PushMessages.patience / 2)
            _ = try await bench.context.acknowledgeMessages(delivered: 1, read: nil, in: stream, for: bob)
            try await bench.send("two", to: stream, by: ann)
            for expected in [0, 1, 1] {
                people.clock.advance(PushMessages.patience / 2)
                _ = try await people.deliver()
                #expect(sent() == expected)
            }
            // A report of the first of two messages leaves the push for both to the second.
            _ = try await bench.context.acknowledgeMessages(delivered: 2, read: nil, in: stream, for: bob)
            for text in ["three", "four"] { try await bench.send(text, to: stream, by: ann) }
            _ = try await bench.context.acknowledgeMessages(delivered: 3, read: nil, in: stream, for: bob)
            people.clock.advance(PushMessages.patience)
            _ = try await people.deliver()
            #expect(sent() == 2)
            // Nobody is told of what they wrote.
            let told = sent()
            try await bench.send("five", to: stream, by: ann)
            try await bench.send("six", to: stream, by: bob)
            people.clock.advance(PushMessages.patience)
            _ = try await people.deliver()
            let (names, new) = (people.pushes.endpoints.suffix(sent() - told), people.pushes.sent.suffix(sent() - told))
            #expect(names.sorted() == ["ann", "bob"])
            for (name, push) in zip(names, new) { #expect(!push.payload.contains("Person \(name) wrote")) }
        }
    }

    @Test("are none to whom may not read: after a block, a removal, a deletion, and without an endpoint")
    func noPushes() async throws {
        try await MessageBench.run {
            $0.streams.conversationRequires = .provider
        } _: { bench in
            let people = bench.people
            let (ann, bob) = (try await people.person("ann"), try await people.person("bob"))
            let cat = try await people.person("cat", hasEndpoint: false)
            let (eve, dan) = (try await people.person("eve"), try await people.person("dan"))
            let stream = try await bench.open("conversation", [bob, cat, eve, dan], by: ann)
            let other = try await bench.open("conversation", [dan], by: ann)
            try await bench.send("one", to: stream, by: ann)
            try await bench.send("two", to: other, by: ann)
            try await people.context.blockUser(ann.userID.description, for: bob)
            try await bench.remove(eve, from: stream, by: ann)
            try await bench.context.deleteMessageStream(other, for: ann)
            people.clock.advance(PushMessages.patience)
            _ = try await people.deliver()
            #expect(people.pushes.endpoints == ["dan"])
            // An endpoint that is gone is forgotten.
            people.pushes.answer(.endpointGone)
            _ = try await bench.context.acknowledgeMessages(delivered: 1, read: nil, in: stream, for: dan)
            try await bench.send("three", to: stream, by: ann)
            people.clock.advance(PushMessages.patience)
            _ = try await people.deliver()
            #expect(try await people.context.readProfile(dan).endpoints == nil)
        }
    }

    @Test("of an erasure reach the other members of every stream, once for each", arguments: StoreKind.shared)
    func erasure(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) {
            $0.streams.conversationRequires = .provider
        } _: { bench in
            let people = bench.people
            let (ann, bob, cat) = (
                try await people.person("ann"), try await people.person("bob"), try await people.person("cat")
            )
            let streams = [
                try await bench.open("conversation", [bob], by: ann),
                try await bench.open("conversation", [cat], by: bob),
            ]
            for stream in streams { for text in ["1", "2"] { try await bench.send(text, to: stream, by: bob) } }
            let anchors = [try await bench.sync(for: ann).anchor, try await bench.sync(for: cat).anchor]
            let (keys, environment) = (people.keys, bench.context.environment)
            try await bench.context.write { transaction, events in
                try EraseUser(keys: keys, actor: "test", reason: "asked")(
                    bob.userID, receipt: environment.newUUID(), in: transaction, &events)
            }
            for (session, (anchor, stream)) in zip([ann, cat], zip(anchors, streams)) {
                let found = try await bench.sync(anchor, for: session)
                #expect(found.operations.map(\.change) == [.erased])
                #expect(found.operations.map { "\($0.stream)" } == [stream])
                #expect(try await bench.read(stream, by: session) == ["1 -", "2 -"])
            }
        }
    }

    @Test("of a deletion survive a restore: what was deleted since the copy is deleted in it")
    func restore() async throws {
        try await MessageBench.run(on: .sqlite) { bench in
            let (ann, bob, stream) = try await pair(bench)
            for text in ["keep", "delete"] { try await bench.send(text, to: stream, by: ann) }
            try await bench.restored {
                let range = try Service.MessageRange(after: nil, before: nil, limit: "1")
                let last = try await bench.context.readMessages(range, of: stream, for: bob).views[0].message
                try await bench.context.deleteMessage(last.id.description, in: stream, for: ann)
            } then: { restored, _ in
                let id = try #require(MessageStreamID(stream[...]))
                let (kept, bytes) = try await restored.write { transaction in
                    let messages = StreamMessageRepository(transaction)
                    let kept = try (Int64(1)...2).map { try messages.find($0, in: id)?.sealedBody != nil }
                    return (kept, try StreamUserRepository(transaction).count(of: ann.userID).bytes)
                }
                #expect(kept == [true, false] && bytes == 512)
            }
        }
    }

    @Test("fit into an answer, however large the streams are: the rest comes with the next anchor")
    func pages() async throws {
        try await MessageBench.run { bench in
            let ann = try await bench.people.person("ann")
            let long = JSONValueText.object(16_000)
            for _ in 0..<40 {
                let stream = try await bench.open("conversation", by: ann)
                _ = try await bench.context.changeSharedMetadata(.set(long), in: stream, for: ann)
            }
            var (anchor, seen, pages) = (Service.SyncAnchor.start, 0, 0)
            var hasMore = true
            while hasMore {
                let page = try await bench.sync(anchor, for: ann)
                (anchor, hasMore) = (page.anchor, page.hasMore)
                seen += page.operations.count
                pages += 1
                #expect(!page.operations.isEmpty && page.operations.reduce(0) { $0 + ($1.view?.weight ?? 0) } < 300_000)
            }
            #expect(seen == 80 && pages >= 3)
        }
    }
}

/// Metadata of about so many bytes.
private enum JSONValueText {
    static func object(_ bytes: Int) -> StreamMetadata {
        StreamMetadata(stored: .object(["text": .string(String(repeating: "x", count: bytes))]))
    }
}
