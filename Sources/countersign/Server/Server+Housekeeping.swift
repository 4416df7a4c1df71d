import API
import Domain
import Foundation
import Logging
import Metrics
import Operations
import Synchronization

/// The part of the server that forgets: the loop of housekeeping.
extension Server {
    /// How often a node looks at what is due, in seconds.
    private static let housekeepingInterval = 5
    /// How often it does what is each process's own.
    private static let ownInterval = Duration.seconds(60)

    /// A failure is logged when it is new, and counted each time.
    ///
    /// - Throws: ``CommandFailure`` where the service's keys cannot be read.
    func housekeepingLoop() throws -> @Sendable () async -> Void {
        let housekeeping = Housekeeping(
            context, also: [try purgeAudit(), FillDiscoverySet(context).task, ReportStatus.task(policy)])
        let overdue = Overdue()
        registry.addGauge("housekeeping_tasks_overdue") { Double(overdue.count.load(ordering: .relaxed)) }
        return { [logger] in
            var failing: [String: String] = [:]
            var nextOwn = ContinuousClock.now
            while !Task.isCancelled {
                var pause = Self.housekeepingInterval
                do {
                    let isOwn = ContinuousClock.now >= nextOwn
                    if isOwn { nextOwn = .now + Self.ownInterval }
                    let report = try await isOwn ? housekeeping() : housekeeping.runDue()
                    if report.isCutShort { pause = 0 }
                    overdue.count.store(report.overdue.count, ordering: .relaxed)
                    for name in report.finished { failing[name] = nil }
                    for (name, cause) in report.failed {
                        Counter(label: "housekeeping_failures", dimensions: [("task", name)]).increment()
                        let words = ErrorWords.of(cause)
                        guard failing.updateValue(words, forKey: name) != words else { continue }
                        logger.error(
                            "a task of housekeeping failed, and is tried each minute",
                            metadata: ["task": "\(name)", "cause": .string(words)])
                    }
                    failing[""] = nil
                } catch {
                    let words = ErrorWords.of(error)
                    if failing.updateValue(words, forKey: "") != words {
                        logger.error("housekeeping failed", metadata: ["cause": .string(words)])
                    }
                }
                try? await Task.sleep(for: .seconds(pause))
            }
        }
    }
}

extension Server {
    /// Ends after the listeners, with what the last requests have left.
    func lastUsesLoop() -> @Sendable () async -> Void {
        let write = WriteLastUses(context)
        let uses = context.node.caches.lastUses
        registry.addGauge("last_uses_pending") { Double(uses.count) }
        return { [logger] in
            await write.run {
                logger.error("last uses cannot be written", metadata: ["cause": .string(ErrorWords.of($0))])
            }
        }
    }
}

/// How many tasks should have been done by now.
private final class Overdue: Sendable {
    let count = Atomic<Int>(0)
}
