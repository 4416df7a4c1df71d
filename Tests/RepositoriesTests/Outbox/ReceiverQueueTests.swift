import Domain
import Foundation
import Testing

@testable import Repositories

@Suite("Places for events among receivers")
struct ReceiverQueueTests {
    private let now = Date(timeIntervalSince1970: 1_780_000_000)

    private func queue(_ receiver: String, of owner: String, underWay: Int = 0, failures: Int = 0) -> ReceiverQueue {
        ReceiverQueue(
            receiver: receiver, owner: owner, due: now, underWay: underWay,
            breaker: ReceiverBreaker(failures: failures))
    }

    private func starts(_ queues: [ReceiverQueue]) -> [String: Int] {
        Dictionary(ReceiverQueue.starts(among: queues, count: 8, now: now), uniquingKeysWith: +)
    }

    @Test("go to a provider with a webhook and four streams for a quarter at most, and the others have the rest")
    func owner() {
        let many = (0..<5).map { queue("many-\($0)", of: "many") }
        #expect(starts(many).values.reduce(0, +) == 2)
        let others = [queue("one", of: "one"), queue("two", of: "two")]
        #expect(starts(many + others).filter { !$0.key.hasPrefix("many") } == ["one": 2, "two": 2])
    }

    @Test("are counted with those under way, on all nodes")
    func underWay() {
        let queues = [
            queue("many-0", of: "many", underWay: 1), queue("many-1", of: "many"),
            queue("many-2", of: "many"),
        ]
        #expect(starts(queues).values.reduce(0, +) == 1)
    }

    @Test("are four for all that fail, of whichever provider")
    func failing() {
        let queues = (0..<6).map { queue("down-\($0)", of: "down-\($0)", failures: 1) }
        #expect(starts(queues).values.reduce(0, +) == 4)
        #expect(starts(queues + [queue("up", of: "up")])["up"] == 2)
    }

    @Test("are waited for until an attempt ends, if all that the provider may have are taken")
    func next() {
        let full = [
            queue("many-0", of: "many", underWay: 1), queue("many-1", of: "many", underWay: 1),
            queue("many-2", of: "many"),
        ]
        #expect(ReceiverQueue.next(among: full, after: now) == nil)
        #expect(ReceiverQueue.next(among: full + [queue("one", of: "one")], after: now) == now)
        #expect(starts(full).isEmpty)
    }

    @Test("are waited for until a pause ends")
    func pause() {
        let resting = ReceiverQueue(
            receiver: "down", owner: "down", due: now, underWay: 0,
            breaker: ReceiverBreaker(failures: 5, pausedUntil: now + 5))
        #expect(ReceiverQueue.next(among: [resting], after: now) == now + 5)
        #expect(starts([resting]).isEmpty)
    }
}
