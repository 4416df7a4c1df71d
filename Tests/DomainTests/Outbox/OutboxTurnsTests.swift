import Domain
import Foundation
import Testing

@Suite("Turns in the outbox")
struct OutboxTurnsTests {
    private let now = Date(timeIntervalSince1970: 1_780_000_000)

    private func queue(_ name: String, _ offset: TimeInterval = 0) -> OutboxTurns.Queue {
        OutboxTurns.Queue(name: name, since: now + offset)
    }

    /// What is leased if each owner has so many messages that are due.
    private func lease(_ places: Int, _ turns: inout OutboxTurns, _ messages: inout [String: Int]) -> [String: Int] {
        var leased: [String: Int] = [:]
        var rest = places
        for _ in 0..<1000 {
            guard let turn = turns.next(places: rest) else { break }
            let taken = min(turn.count, messages[turn.queue.name] ?? 0)
            messages[turn.queue.name, default: 0] -= taken
            leased[turn.queue.name, default: 0] += taken
            turns.took(Array(repeating: now, count: taken), of: turn)
            rest -= taken
        }
        return leased
    }

    @Test("give an owner with one message a place in the first round, beside one with a thousand")
    func first() {
        var turns = OutboxTurns()
        turns.note([queue("many", -60), queue("one")], at: now)
        var messages = ["many": 1000, "one": 1]
        #expect(lease(8, &turns, &messages) == ["many": 7, "one": 1])
        #expect(turns.waiting.map(\.name) == ["many"])
    }

    @Test("give each owner one place after the other, and all places to one who is alone")
    func around() {
        var turns = OutboxTurns()
        turns.note(["a", "b", "c"].map { queue($0) }, at: now)
        var messages = ["a": 9, "b": 9, "c": 9]
        var order: [String] = []
        for _ in 0..<6 { order += lease(1, &turns, &messages).keys }
        #expect(order == ["a", "b", "c", "a", "b", "c"])
        var alone = OutboxTurns()
        alone.note([queue("a")], at: now)
        #expect(lease(8, &alone, &messages) == ["a": 7])
        #expect(alone.waiting.isEmpty)
    }

    @Test("begin a look a little before the last one, and at the beginning if the clock was set back")
    func start() {
        var turns = OutboxTurns()
        #expect(turns.start(now: now) == nil)
        turns.note([], at: now)
        #expect(turns.start(now: now + 10) == now - 2)
        #expect(turns.start(now: now - 1) == nil)
    }

    @Test("keep an owner's place if more of it is found, from the earliest message on")
    func found() {
        var turns = OutboxTurns()
        turns.note([queue("a", 5), queue("b")], at: now)
        turns.note([queue("c"), queue("a", 1), queue("c", -1)], at: now + 9)
        #expect(turns.waiting == [queue("a", 1), queue("b"), queue("c", -1)])
    }

    @Test("of two claims at once that looked at different times are those of the later look")
    func merged() {
        var (early, late) = (OutboxTurns(), OutboxTurns())
        early.note([queue("a")], at: now)
        late.note([queue("b")], at: now + 1)
        var turns = OutboxTurns()
        for learned in [early, late, early] { turns.merge(learned) }
        #expect(turns == late)
    }

    @Test("or places of its own bound each owner of a kind that somebody sends")
    func shares() {
        for kind in OutboxKind.allCases {
            switch kind.share {
            case .fetched: #expect(kind.slots == 0, "\(kind)")
            case .turns: #expect(kind.slots > 0, "\(kind)")
            case .places(let count): #expect(count >= 1 && count <= max(1, kind.slots / 4), "\(kind)")
            }
        }
    }

    @Test("wait as long as a receiver asks for, at least as long as usual and a day at most")
    func asked() {
        let waits = [nil, 0, 1, 20, 1_000_000, .infinity].map { RetryRule.event.wait(afterTries: 1, asked: $0) }
        #expect(waits == [2, 2, 2, 20, 86_400, 86_400])
        #expect(RetryRule.outbox.wait(afterTries: 5, asked: 20) == nil)
        #expect(ReceiverBreaker().failed(at: now, asked: 20) == ReceiverBreaker(failures: 1, pausedUntil: now + 20))
        #expect(ReceiverBreaker(failures: 4).failed(at: now, asked: 1).pausedUntil == now + 5)
    }
}
