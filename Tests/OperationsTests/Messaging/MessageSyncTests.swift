import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Synchronization of streams")
struct MessageSyncTests {
    private enum Step: CaseIterable {
        case send, sendTwice, receipt, share, keep, remove, add, deleteMessage, tag, tagPrivately, deleteCopy
    }

    /// The last message that a user sees in a stream.
    private static func last(_ stream: String, _ person: Session, _ node: MessageBench) async throws -> StreamMessage? {
        let range = try Service.MessageRange(after: nil, before: nil, limit: "1")
        return try await node.context.readMessages(range, of: stream, for: person).views.first?.message
    }

    /// Some change, of which several are made at the same time. What the state forbids by then is refused.
    private static func act(
        _ step: Step, _ number: Int, in stream: String, by person: Session, about other: Session, on node: MessageBench
    ) async throws {
        let context = node.context
        do {
            switch step {
            case .send: try await node.send("\(number)", to: stream, by: person)
            case .sendTwice:
                let message = try MessageBench.text("\(number)")
                _ = try await context.appendMessage(message, to: stream, for: person)
                _ = try await context.appendMessage(message, to: stream, for: person)
            case .receipt:
                _ = try await context.acknowledgeMessages(
                    delivered: Int64(number), read: Int64(number / 2), in: stream, for: person)
            case .share:
                let change = JSONValue.object(["k\(number % 3)": .integer(Int64(number)), "last": .null])
                _ = try await context.changeSharedMetadata(.merge(change), in: stream, for: person)
            case .keep:
                _ = try await context.changeOwnMetadata(
                    .merge(.object(["own": .integer(Int64(number))])), in: stream, for: person)
            case .remove: try await node.remove(other, from: stream, by: person)
            case .add: try await node.add(other, to: stream, by: person)
            case .deleteMessage:
                guard let last = try await last(stream, person, node) else { return }
                try await context.deleteMessage(last.id.description, in: stream, for: person)
            case .tag, .tagPrivately:
                guard let last = try await last(stream, person, node) else { return }
                let change = JSONValue.object(["k\(number % 3)": .integer(Int64(number)), "last": .null])
                try await node.tag(change, last, isPrivate: step == .tagPrivately, by: person)
            case .deleteCopy:
                guard let last = try await last(stream, person, node) else { return }
                try await node.deleteCopy(of: last, by: person)
            }
        } catch let refusal as Refusal where [.conflict, .notFound].contains(refusal.code) {
            return
        }
    }

    @Test(
        "brings the devices of three users on two nodes to one state, whatever they do at the same time",
        arguments: StoreKind.shared, [1, 2])
    func convergence(kind: StoreKind, seed: UInt64) async throws {
        try await MessageBench.run(on: kind) {
            $0.streams.conversationRequires = .provider
        } _: { first in
            var random = SeededRandom(seed: seed)
            let nodes = [first, first.anotherNode()]
            var people: [Session] = []
            for name in ["ann", "bob", "cat"] { people.append(try await first.people.person(name)) }
            let stream = try await first.open("conversation", Array(people[1...]), by: people[0])
            var devices = people.map(Replica.init)
            // Ann has a second device, which begins when the others are in the middle.
            let late = Replica(people[0])
            for round in 0..<12 {
                var steps: [(Step, Int, Session, Session, MessageBench)] = []
                for index in 0..<4 {
                    let step = Step.allCases.randomElement(using: &random) ?? .send
                    // Ann stays, so that somebody can add the others again.
                    let (person, other) = (Int.random(in: 0..<3, using: &random), Int.random(in: 1..<3, using: &random))
                    steps.append((step, round * 4 + index, people[person], people[other], nodes[index % 2]))
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (step, number, person, other, node) in steps {
                        group.addTask {
                            try await Self.act(step, number, in: stream, by: person, about: other, on: node)
                        }
                    }
                    try await group.waitForAll()
                }
                let device = Int.random(in: 0..<3, using: &random)
                _ = try await devices[device].synchronize(nodes[round % 2])
            }
            devices.append(late)
            for index in devices.indices {
                var pages = 0
                while try await devices[index].synchronize(nodes[index % 2]) {
                    pages += 1
                    #expect(pages < 10)
                }
                #expect(devices[index].streams.count == 1)
                let truth = try await devices[index].truth(first)
                #expect(devices[index].streams == truth, "\(kind) seed \(seed), device \(index)")
            }
            #expect(devices[0].streams == devices[3].streams)
            // Numbers without gaps, each message once.
            let messages = try await first.read(stream, by: people[0])
            #expect(messages.map { $0.prefix { $0 != " " } } == messages.indices.map { "\($0 + 1)"[...] })
            let texts = messages.map { $0.drop { $0 != " " } }.filter { $0 != " -" }
            #expect(Set(texts).count == texts.count)
        }
    }

    @Test("gives from the beginning only the latest state of each, and nothing twice", arguments: StoreKind.shared)
    func latest(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let ann = try await bench.people.person("ann")
            let stream = try await bench.open("conversation", by: ann)
            for index in 0..<5 { try await bench.send("\(index)", to: stream, by: ann) }
            let all = try await bench.sync(for: ann)
            #expect(all.operations.map(\.change) == [.newMessage] && all.operations[0].view?.lastSequence == 5)
            #expect(try await bench.sync(all.anchor, for: ann).operations.isEmpty)
            try await bench.send("5", to: stream, by: ann)
            #expect(try await bench.sync(all.anchor, for: ann).operations.map(\.change) == [.newMessage])
            try await bench.context.deleteMessageStream(stream, for: ann)
            let end = try await bench.sync(for: ann)
            #expect(end.operations.map(\.change) == [.deleted])
            #expect(end.operations[0].message == nil && end.operations[0].view == nil)
            // Of another store's life, or of none.
            for anchor in [
                Service.SyncAnchor(
                    history: "other", sequence: end.anchor.sequence, at: bench.people.clock.now),
                Service.SyncAnchor(
                    history: end.anchor.history, sequence: 999, at: bench.people.clock.now),
            ] {
                #expect(try await bench.sync(anchor, for: ann).operations.count == 1)
            }
        }
    }

    @Test("begins anew for a device that was away for longer than deletions are kept")
    func away() async throws {
        try await MessageBench.run { bench in
            let ann = try await bench.people.person("ann")
            let stream = try await bench.open("conversation", by: ann)
            try await bench.send("x", to: stream, by: ann)
            let anchor = try await bench.sync(for: ann).anchor
            let text = anchor.text
            #expect(try Service.SyncAnchor(text) == anchor)
            bench.people.clock.advance(88 * 86_400)
            let young = try await bench.sync(anchor, for: ann)
            #expect(young.operations.isEmpty)
            bench.people.clock.advance(86_400)
            #expect(try await bench.sync(anchor, for: ann).operations.map(\.change) == [.newMessage])
            #expect(try await bench.sync(young.anchor, for: ann).operations.isEmpty)
            for wrong in ["x", "a.1", "a.1.-1", "a.-1.1", "a.1.1.1", "a.1.9999999999999999999"] {
                #expect(throws: Refusal(.malformedRequest, "")) { try Service.SyncAnchor(wrong) }
            }
        }
    }

    /// Ends a wait that nobody woke: its answer is then an empty one.
    private static func limit(_ waiting: Task<Service.SyncAnswer, any Error>) -> Task<Void, any Error> {
        Task {
            try await Task.sleep(for: .seconds(10))
            waiting.cancel()
        }
    }

    @Test("waits on another node until something happens there, and no longer than it is asked to")
    func waiting() async throws {
        try await MessageBench.run {
            $0.streams.pollWait = 3600
        } _: { first in
            let ann = try await first.people.person("ann")
            let second = first.anotherNode()
            try await second.context.invalidator.poll()
            let stream = try await first.open("conversation", by: ann)
            try await second.context.invalidator.poll()
            let anchor = try await first.sync(for: ann).anchor
            #expect(try await second.sync(anchor, wait: 0.01, for: ann).operations.isEmpty)
            let answer = Task { try await second.sync(anchor, wait: 3600, for: ann) }
            let limit = Self.limit(answer)
            defer { limit.cancel() }
            try await first.send("x", to: stream, by: ann)
            // It reads the log as often as a node does.
            let noticing = Task {
                while !Task.isCancelled {
                    try await second.context.invalidator.poll()
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            defer { noticing.cancel() }
            #expect(try await answer.value.operations.map(\.change) == [.newMessage])
        }
    }

    @Test("is refused to whoever loses the session while waiting, and to who waits too often")
    func ended() async throws {
        try await MessageBench.run {
            $0.streams.waitingPolls = 1
            $0.streams.pollWait = 3600
        } _: { bench in
            let ann = try await bench.people.person("ann")
            let anchor = try await bench.sync(for: ann).anchor
            let answer = Task { try await bench.sync(anchor, wait: 3600, for: ann) }
            let limit = Self.limit(answer)
            defer { limit.cancel() }
            let polls = bench.context.node.messagePolls
            for _ in 0..<24000 where polls.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
            try #require(polls.count == 1)
            await #expect(throws: Refusal(.rateLimited, "")) { try await bench.sync(for: ann) }
            let order = try BanOrder(
                target: .user(ann.userID.description), scope: .all, reason: try #require(BanBench.spam), note: nil,
                endsAt: nil, withDevices: false)
            let admin = Administration(
                store: bench.context.store, environment: bench.context.environment, actor: "admin test"
            ) { bench.people.keys }
            try await bench.context.invalidator.poll()
            _ = try await admin.addBan(order, upTo: nil)
            try await bench.context.invalidator.poll()
            await #expect(throws: Refusal.self) { try await answer.value }
        }
    }

    /// What ends or challenges a session while its user keeps others.
    enum SessionEnd: CaseIterable, Sendable { case logOut, end, challenge, key, provider }

    @Test("is refused at once on another node when its session ends or is challenged", arguments: SessionEnd.allCases)
    func endedElsewhere(end: SessionEnd) async throws {
        try await MessageBench.run {
            $0.streams.pollWait = 3600
        } _: { first in
            let ann = try await first.people.person("ann")
            let other = try await first.people.signInAgain(ann)
            let second = first.anotherNode()
            try await second.context.invalidator.poll()
            let anchor = try await second.sync(for: ann).anchor
            let answer = Task { try await second.sync(anchor, wait: 3600, for: ann) }
            let limit = Self.limit(answer)
            defer { limit.cancel() }
            let polls = second.context.node.messagePolls
            for _ in 0..<24000 where polls.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
            try #require(polls.count == 1)
            let admin = Administration(
                store: first.context.store, environment: first.context.environment, actor: "admin test"
            ) { first.people.keys }
            switch end {
            case .logOut: try await first.context.endOtherSession(ann.id.description, by: other)
            case .end: try await admin.endSession(ann.id)
            case .challenge: try await admin.challengeSession(ann.id)
            case .key: _ = try await admin.revokeProviderKey(ann.providerKeyID, endingSessions: true)
            case .provider: _ = try await admin.disableProvider("test")
            }
            try await second.context.invalidator.poll()
            await #expect(throws: Refusal.self) { try await answer.value }
        }
    }
}
