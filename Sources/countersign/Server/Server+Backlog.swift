import API
import Database
import Domain
import Foundation
import Operations
import Synchronization

/// The gauges of the backlog: texts, events, and cards in review.
extension Server {
    /// Interval in seconds. Each reading costs the store two short queries.
    private static let backlogInterval = 15

    /// The loop that updates the gauges. They are omitted while the store cannot be read.
    func backlogLoop() -> @Sendable () async -> Void {
        let latest = LatestBacklog()
        for kind in OutboxKind.allCases {
            registry.addGauge("outbox_waiting", [("kind", kind.rawValue)]) {
                latest.value.map { Double($0.outbox[kind.rawValue]?.count ?? 0) }
            }
            registry.addGauge("outbox_age_seconds", [("kind", kind.rawValue)]) {
                latest.value.map { $0.outbox[kind.rawValue]?.age ?? 0 }
            }
        }
        // A full disk is detected here and by `/readyz`. A store that does not respond is detected only by the cache's
        // age.
        registry.addGauge("store_available") { [watch] in watch.isFresh && latest.isAvailable ? 1 : 0 }
        registry.addGauge("review_queue") { latest.value.map { Double($0.review.count) } }
        registry.addGauge("review_queue_age_seconds") { latest.value?.review.age }
        return { [store, service] in
            while !Task.isCancelled {
                latest.isAvailable = (try? await store.check()) != nil
                latest.value = try? await service.readBacklog()
                try? await Task.sleep(for: .seconds(Self.backlogInterval))
            }
        }
    }
}

private final class LatestBacklog: Sendable {
    typealias Line = (count: Int, age: TimeInterval)

    private let latest = Mutex<(outbox: [String: Line], review: Line)?>(nil)
    private let available = Atomic(true)

    var isAvailable: Bool {
        get { available.load(ordering: .relaxed) }
        set { available.store(newValue, ordering: .relaxed) }
    }

    var value: (outbox: [String: Line], review: Line)? {
        get { latest.withLock { $0 } }
        set { latest.withLock { $0 = newValue } }
    }
}
