import API
import Domain
import Foundation
import Logging
import Metrics
import Operations
import Synchronization

extension Server {
    /// Interval in seconds at which a node checks for due tasks.
    private static let housekeepingInterval = 5
    /// Interval of the tasks that every process does for itself.
    private static let ownInterval = Duration.seconds(60)

    /// A failure is logged once and counted each time.
    ///
    /// - Throws: ``CommandFailure`` if the service's keys cannot be read.
    func housekeepingLoop() throws -> @Sendable () async -> Void {
        let trustList = service.trustListTask { [policy, allowsLoopback = settings.allowsLoopbackURLs] url, _ in
            await WalletFiles.fetchList(policy[\.delivery], allowsLoopback: allowsLoopback, url)
        }
        let housekeeping = Housekeeping(
            service, also: [try purgeAudit(), FillDiscoverySet(service).task, ReportStatus.task(policy), trustList])
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
                            "a housekeeping task failed and is retried every minute",
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
    /// Stops after the listeners, so that the last requests are written too.
    func lastUsesLoop() -> @Sendable () async -> Void {
        let write = WriteLastUses(service)
        let uses = service.node.caches.lastUses
        registry.addGauge("last_uses_pending") { Double(uses.count) }
        return { [logger] in
            await write.run {
                logger.error("last uses cannot be written", metadata: ["cause": .string(ErrorWords.of($0))])
            }
        }
    }

    /// Stops after the listeners, so that the last sign-ins are recorded too.
    func signInsLoop() -> @Sendable () async -> Void {
        let write = WriteSignIns(service)
        let records = service.node.caches.signIns
        registry.addGauge("sign_ins_pending") { Double(records.count) }
        let lost = Counter(label: "sign_ins_dropped")
        return { [logger] in
            await write.run {
                if $0 > 0 { lost.increment(by: Int64($0)) }
            } onError: {
                logger.error("sign-ins cannot be recorded", metadata: ["cause": .string(ErrorWords.of($0))])
            }
        }
    }

    /// Stops after the listeners, so that the users of their connections go offline at once.
    ///
    /// - Parameter node: the node in the heartbeats.
    func presenceLoop(_ node: NodeID) -> @Sendable () async -> Void {
        let announce = AnnouncePresence(service, node: node)
        return { [logger] in
            await announce.run {
                logger.error("presence cannot be written", metadata: ["cause": .string(ErrorWords.of($0))])
            }
        }
    }
}

/// The number of overdue tasks.
private final class Overdue: Sendable {
    let count = Atomic<Int>(0)
}
