import Dispatch
import Foundation
import Synchronization

/// Threads that hold a connection each and carry out what waits in one line, so that no task's thread ever waits for
/// the server. A thread is started where all others are busy; the one that was busy last is woken first, which keeps
/// few connections in use where there is little to do.
final class PostgreSQLWorkers: Sendable {
    /// A body that waits for a connection.
    struct Job: Sendable {
        /// Runs the body and answers its caller.
        let run: @Sendable (PostgreSQLSession) -> Void
        /// Tells the caller that the body was not run.
        let refuse: @Sendable (StoreError) -> Void
        let since = ContinuousClock.now
    }

    private struct State {
        var line = FIFOQueue<Job>()
        var idle: [DispatchSemaphore] = []
        var threads = 0
        var isClosed = false
    }

    private let address: PostgreSQLAddress
    private let timeouts: PostgreSQLTimeouts
    private let limit: Int
    private let state = Mutex(State())
    private let running = DispatchGroup()
    private let asked = Atomic<Int>(0)

    init(_ address: PostgreSQLAddress, timeouts: PostgreSQLTimeouts, limit: Int) {
        self.address = address
        self.timeouts = timeouts
        self.limit = limit
    }

    /// Puts a job in line.
    func submit(_ job: Job) {
        enum Next {
            case refuse(StoreError)
            case wake(DispatchSemaphore)
            case start
            case wait
        }
        let next = state.withLock { state -> Next in
            guard !state.isClosed else { return .refuse(.closed) }
            guard state.line.append(job) else { return .refuse(.unavailable(reason: "too many callers wait")) }
            if let idle = state.idle.popLast() { return .wake(idle) }
            guard state.threads < limit else { return .wait }
            state.threads += 1
            running.enter()
            return .start
        }
        switch next {
        case .refuse(let error): job.refuse(error)
        case .wake(let semaphore): semaphore.signal()
        case .start: Thread { self.work() }.start()
        case .wait: break
        }
    }

    /// Takes no more jobs, finishes those in line and lets the connections go.
    func close() async {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for semaphore in idle { semaphore.signal() }
        await withCheckedContinuation { continuation in
            running.notify(queue: .global()) { continuation.resume() }
        }
    }

    /// How often a transaction waited for the server so far.
    var exchanges: Int { asked.load(ordering: .relaxed) }

    /// Whether no more jobs are taken.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    private func work() {
        let session = PostgreSQLSession(address, timeouts: timeouts) { [self] in
            asked.add($0, ordering: .relaxed)
        }
        let semaphore = DispatchSemaphore(value: 0)
        while true {
            let (job, isOver) = state.withLock { state -> (Job?, Bool) in
                if let job = state.line.take(atMost: 1).first { return (job, false) }
                if !state.isClosed { state.idle.append(semaphore) }
                return (nil, state.isClosed)
            }
            if let job {
                if ContinuousClock.now - job.since < .seconds(timeouts.statement) {
                    job.run(session)
                } else {
                    job.refuse(.unavailable(reason: "no connection became free in time"))
                }
            } else if isOver {
                break
            } else {
                semaphore.wait()
            }
        }
        session.close()
        running.leave()
    }
}
