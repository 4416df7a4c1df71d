import Domain
import Synchronization

/// The slots of a loop by kind, and the turns of owners for them.
final class OutboxPlaces: Sendable {
    static let all = Dictionary(uniqueKeysWithValues: OutboxKind.allCases.map { ($0, $0.slots) })

    /// The interval at which all due messages are read. Otherwise only messages are read that became due since the last
    /// reading. A process that dies may leave messages that no other process knows of.
    private static let whole = Duration.seconds(30)
    /// The interval at which a sender that takes the next message after another one reads due messages.
    private static let pause = Duration.milliseconds(100)

    private struct State {
        var taken: [OutboxKind: Int] = [:]
        var turns: [OutboxKind: OutboxTurns] = [:]
        var looked: [OutboxKind: ContinuousClock.Instant] = [:]
        var lookedAtAll: [OutboxKind: ContinuousClock.Instant] = [:]
    }

    private let state = Mutex(State())

    /// The kinds with free slots, and their number.
    var free: [OutboxKind: Int] {
        state.withLock { state in
            Self.all.map { ($0.key, $0.value - state.taken[$0.key, default: 0]) }.filter { $0.1 > 0 }
                .reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    func take(_ kind: OutboxKind) { state.withLock { $0.taken[kind, default: 0] += 1 } }

    func give(_ kind: OutboxKind) { state.withLock { $0.taken[kind, default: 0] -= 1 } }

    /// The queues of owners with due messages, by kind.
    var turns: [OutboxKind: OutboxTurns] { state.withLock { $0.turns } }

    /// The known queues of some kinds, and the kinds for which the caller must read due messages.
    ///
    /// - Parameter isRound: whether the caller was woken, and does not just take the next message after another one.
    func know(
        _ kinds: some Sequence<OutboxKind>, isRound: Bool
    ) -> (turns: [OutboxKind: OutboxTurns], looking: Set<OutboxKind>) {
        let now = ContinuousClock.now
        return state.withLock { state in
            var (turns, looking): ([OutboxKind: OutboxTurns], Set<OutboxKind>) = ([:], [])
            for kind in kinds {
                if state.lookedAtAll[kind].map({ now - $0 >= Self.whole }) ?? true {
                    state.turns[kind] = nil
                    (state.looked[kind], state.lookedAtAll[kind]) = (nil, now)
                }
                turns[kind] = state.turns[kind]
                guard isRound || state.looked[kind].map({ now - $0 >= Self.pause }) ?? true else { continue }
                looking.insert(kind)
                state.looked[kind] = now
            }
            return (turns, looking)
        }
    }

    /// Takes over the queues after a lease.
    func learn(_ turns: [OutboxKind: OutboxTurns]) {
        state.withLock { state in
            for (kind, learned) in turns { state.turns[kind, default: OutboxTurns()].merge(learned) }
        }
    }
}
