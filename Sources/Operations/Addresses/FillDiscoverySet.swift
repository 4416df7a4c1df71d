import Database
import Domain
import Encoding
import Foundation
import PhoneNumbers
import Repositories
import Synchronization

/// Makes the entries of contact discovery: one for each findable number in this week's set and, from a day before its
/// start, in the next week's set. Requests do not wait for it, and it never scans all numbers.
package struct FillDiscoverySet: Sendable {
    private let context: Service
    private let made = Made()
}

package extension FillDiscoverySet {
    init(_ context: Service) {
        self.context = context
    }

    /// The maximum of numbers in one turn. Each costs almost a millisecond of one core.
    private static let numbers = 512
    /// How long a turn computes, so that enough time is left for writing.
    private static let turn: Duration = .seconds(1)

    private typealias Computed = (
        number: DiscoveryRepository.Lacking, week: DiscoveryWeek, entry: DiscoveryBucket.Entry?
    )

    /// The results that were computed outside a transaction and must be written. The name distinguishes the positions
    /// of one turn from those of other turns.
    private struct Turn {
        var name = ""
        var entries: [Computed] = []
    }

    private final class Made: Sendable {
        let turn = Mutex(Turn())
    }

    /// The maintenance task. Results that a process computed and did not write before it died are computed again.
    var task: MaintenanceTask {
        MaintenanceTask("discovery_set", every: 5, prepare: { try await compute() }, batch: { try write($1, in: $0) })
    }

    private func compute() async throws {
        let newSeed = context.environment.randomBytes
        let (lacking, now) = try await context.read { transaction in
            (
                try DiscoveryRepository(transaction).lacking(.newest(at: transaction.now), limit: Self.numbers),
                transaction.now
            )
        }
        let current = DiscoveryWeek(at: now).number
        let weeks = lacking.map { (number: $0, week: DiscoveryWeek(max($0.filled.number + 1, current))) }
        var turn = Turn(name: context.environment.newUUID().uuidString)
        let end = ContinuousClock.now + Self.turn
        for (place, group) in Dictionary(grouping: weeks, by: { Place(provider: $0.number.provider, week: $0.week) }) {
            let key = try await context.store.maintained { transaction in
                try context.discoveryKeys(in: transaction).findOrCreate(
                    place.week, of: place.provider, seed: newSeed(32))
            }?.key
            for (number, week) in group where turn.entries.isEmpty || ContinuousClock.now < end {
                try Task.checkCancellation()
                turn.entries.append((number, week, try await entry(of: number, key)))
            }
        }
        made.turn.withLock { [turn] in $0 = turn }
    }

    private struct Place: Hashable {
        let provider: ProviderID
        let week: DiscoveryWeek
    }

    /// `nil` if the number cannot be decrypted, which must not delay the others.
    private func entry(of one: DiscoveryRepository.Lacking, _ key: ObliviousKey?) async throws -> DiscoveryBucket.Entry?
    {
        let keys = context.keys.personal
        let number = try await context.read { transaction -> String? in
            do {
                return try AuthenticatedUserRepository(transaction, keys: keys).find(one.user).map {
                    PhoneNumber.line(ofStored: $0.phoneNumber)
                }
            } catch is SealingFailure {
                return nil
            }
        }
        guard let key, let number, let output = try key.outputs(of: [number]).first else { return nil }
        return DiscoveryBucket.Entry(output: output, user: one.user)
    }

    private func write(
        _ batch: MaintenanceBatch, in transaction: any Transaction
    ) throws -> MaintenanceBatch.Outcome {
        // They are kept until the next turn, so that a transaction that runs again finds them.
        let turn = made.turn.withLock(\.self)
        let after = batch.after.map { $0.split(separator: " ") } ?? []
        let first = after.count == 2 && after[0] == turn.name ? Int(after[1]) ?? 0 : 0
        let entries = turn.entries.dropFirst(first).prefix(batch.limit)
        let records = DiscoveryRepository(transaction)
        var added: [Place: Int] = [:]
        for (number, week, entry) in entries where try records.fill(number, entry, of: week) {
            added[Place(provider: number.provider, week: week), default: 0] += 1
        }
        for (place, count) in added {
            try context.discoveryKeys(in: transaction).count(
                entries: count, in: place.week, of: place.provider)
        }
        return MaintenanceBatch.Outcome(
            rows: entries.count, reached: "\(turn.name) \(first + entries.count)",
            isFinished: entries.count < batch.limit)
    }
}

extension Service {
    /// The keys of contact discovery, with the keys that this process has derived.
    func discoveryKeys(in transaction: any Transaction) -> DiscoveryKeyRepository {
        DiscoveryKeyRepository(transaction, keys: keys.personal, derived: node.discoveryKeys)
    }
}
