import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Messages of a user who declines storage")
struct MessageStorageTests {
    private static let day: TimeInterval = 86_400

    /// Ann, who declines storage, and Bob in a conversation.
    private func pair(_ bench: MessageBench) async throws -> (ann: Session, bob: Session, stream: String) {
        let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
        try await bench.permit(ann, bob)
        try await bench.context.changeProfile(Service.ProfileChange(storage: .untilDelivered), for: ann)
        return (ann, bob, try await bench.open("conversation", [bob], by: ann))
    }

    private func fetched(_ through: Int64, in stream: String, by session: Session, _ bench: MessageBench) async throws {
        _ = try await bench.context.acknowledgeMessages(delivered: through, read: nil, in: stream, for: session)
    }

    /// Lets maintenance run when its tasks are due.
    private func maintain(_ bench: MessageBench) async throws {
        bench.people.clock.advance(61)
        let report = try await Housekeeping(bench.context)()
        #expect(report.failed.isEmpty)
    }

    private func storedBytes(of session: Session, _ bench: MessageBench) async throws -> Int64 {
        try await bench.context.store.read { try StreamUserRepository($0).storedBytes(of: session.userID) }
    }

    @Test(
        "are deleted once all active devices of all members have them, and no device is told",
        arguments: StoreKind.shared)
    func delivered(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob, stream) = try await pair(bench)
            let tablet = try await bench.people.signInAgain(bob)
            try await bench.send(String(repeating: "x", count: 2000), to: stream, by: bob)
            try await bench.send("two", to: stream, by: ann)
            let anchors = try await [bench.sync(for: ann).anchor, bench.sync(for: bob).anchor]
            for (person, through) in [(ann, 2), (bob, 2), (tablet, 0)] as [(Session, Int64)] {
                try await fetched(through, in: stream, by: person, bench)
            }
            try await maintain(bench)
            #expect(try await bench.read(stream, by: ann).allSatisfy { !$0.hasSuffix(" -") })
            try await fetched(1, in: stream, by: tablet, bench)
            try await maintain(bench)
            #expect(try await bench.read(stream, by: ann) == ["1 -", "2 two"])
            #expect(try await storedBytes(of: bob, bench) == StreamMessage.smallestSize)
            try await fetched(2, in: stream, by: tablet, bench)
            try await maintain(bench)
            let page = try await bench.context.readMessages(
                Service.MessageRange(after: "0", before: nil, limit: nil), of: stream, for: tablet)
            #expect(page.views.allSatisfy { $0.parts == nil && $0.message.isExpired } && page.views.count == 2)
            for (person, anchor) in zip([ann, bob], anchors) {
                #expect(try await bench.sync(anchor, for: person).operations.allSatisfy { $0.change == .updateStatus })
            }
            #expect(try await bench.show(stream, to: bob).storage == .untilDelivered)
        }
    }

    @Test("wait for a member without an active device until the policy's time, and for no device that is not used")
    func waiting() async throws {
        try await MessageBench.run {
            $0.streams.undeliveredMessages = 40 * Self.day
        } _: { bench in
            let (ann, bob, stream) = try await pair(bench)
            _ = try await bench.people.signInAgain(bob)
            try await bench.send("one", to: stream, by: ann)
            // Neither the phone nor the tablet of Bob is used for a month.
            bench.people.clock.advance(31 * Self.day)
            let phone = try await bench.people.signInAgain(ann)
            try await fetched(1, in: stream, by: phone, bench)
            try await maintain(bench)
            #expect(try await bench.read(stream, by: phone) == ["1 one"])
            let watch = try await bench.people.signInAgain(bob)
            try await fetched(1, in: stream, by: watch, bench)
            try await maintain(bench)
            #expect(try await bench.read(stream, by: phone) == ["1 -"])
            try await bench.send("two", to: stream, by: phone)
            bench.people.clock.advance(41 * Self.day)
            try await maintain(bench)
            #expect(try await bench.read(stream, by: bench.people.signInAgain(bob)) == ["1 -", "2 -"])
        }
    }

    @Test("are those of streams with that user, written since and until the user changes it; a forum keeps all")
    func scope() async throws {
        try await MessageBench.run { bench in
            let (ann, bob, stream) = try await pair(bench)
            let eve = try await bench.people.person("eve")
            try await bench.permit(bob, eve)
            let (other, forum) = (
                try await bench.open("conversation", [eve], by: bob), try await bench.open("forum", by: ann)
            )
            try await bench.send("of ann", to: forum, by: ann)
            try await bench.send("to eve", to: other, by: bob)
            try await bench.send("one", to: stream, by: bob)
            try await bench.context.changeProfile(Service.ProfileChange(storage: .keep), for: ann)
            try await bench.send("two", to: stream, by: bob)
            for person in [ann, bob] { try await fetched(2, in: stream, by: person, bench) }
            for person in [bob, eve] { try await fetched(1, in: other, by: person, bench) }
            try await maintain(bench)
            #expect(try await bench.read(stream, by: ann) == ["1 -", "2 two"])
            #expect(try await bench.read(other, by: eve) == ["1 to eve"])
            #expect(try await bench.read(forum, by: eve) == ["1 of ann"])
            #expect(try await bench.context.readProfile(ann).storage == .keep)
        }
    }

    @Test("are deleted on the devices too by a user who deletes them, and a repeated message is the same one")
    func deletion() async throws {
        try await MessageBench.run { bench in
            let (ann, bob, stream) = try await pair(bench)
            let message = try MessageBench.text("one")
            let sent = try await bench.context.appendMessage(message, to: stream, for: ann)
            for person in [ann, bob] { try await fetched(1, in: stream, by: person, bench) }
            try await maintain(bench)
            #expect(try await bench.context.appendMessage(message, to: stream, for: ann).sequence == sent.sequence)
            let anchor = try await bench.sync(for: bob).anchor
            try await bench.context.deleteMessage(sent.id.description, in: stream, for: ann)
            let operations = try await bench.sync(anchor, for: bob).operations
            #expect(operations.map(\.change) == [.deleted] && operations.first?.message == sent.id)
            let view = try await bench.show(stream, to: bob).lastMessage
            #expect(view?.message.isExpired == false && view?.message.sealedBody == nil)
            #expect(
                await bench.people.state { try await bench.context.appendMessage(message, to: stream, for: ann) }
                    == "deleted")
        }
    }

    @Test("expire again after a restore, and the user still declines storage")
    func restored() async throws {
        try await MessageBench.run(on: .sqlite) { bench in
            let (ann, bob, stream) = try await pair(bench)
            let sent = try await bench.send("one", to: stream, by: ann)
            try await bench.restored {
                for person in [ann, bob] { try await fetched(1, in: stream, by: person, bench) }
                try await maintain(bench)
                try await bench.context.changeProfile(Service.ProfileChange(storage: .untilDelivered), for: bob)
            } then: { copy, report in
                #expect(report.withdrawals == 1)
                try await copy.read { transaction in
                    let storage = MessageStorageRepository(transaction)
                    #expect(try [ann, bob].allSatisfy { try storage.storage(of: $0.userID) == .untilDelivered })
                    let message = try StreamMessageRepository(transaction).find(sent.id, in: sent.streamID)
                    #expect(message?.isExpired == true)
                }
            }
        }
    }
}
