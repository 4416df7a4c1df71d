import Dispatch
import Foundation
import Synchronization

/// Threads that hold a connection each and carry out what waits in one line, so that no task's thread ever waits for
/// the server. A thread is started where all others are busy; the one that was busy last is woken first, which keeps
/// few connections in use where there is little to do.
final class PostgreSQLWorkers: Sendable {
    /// A body that waits for a connection.
    struct Job: Sendable {
        /// Runs the body and answers its caller, or returns how many seconds to wait before it is run again.
        let run: @Sendable (PostgreSQLSession, inout PostgreSQLRetries) -> TimeInterval?
        /// Tells the caller that the body was not run, or that nothing of it was kept.
        let refuse: @Sendable (StoreError) -> Void
        var retries: PostgreSQLRetries
        var since = ContinuousClock.now
    }

    private struct State {
        var line = FIFOQueue<Job>()
        /// Those that were begun already. They go first: whoever begins last would else have the best chances.
        var again = FIFOQueue<Job>()
        /// How many wait before they are begun again.
        var pausing = 0
        var idle: [DispatchSemaphore] = []
        var threads = 0
        var isClosed = false
    }

    /// What is to be done for a job that was put in line.
    private enum Next {
        case refuse(StoreError)
        case wake(DispatchSemaphore)
        case start
        case wait
    }

    private let address: PostgreSQLAddress
    private let timeouts: PostgreSQLTimeouts
    private let limit: Int
    private let isReadOnly: Bool
    private let followed: FollowedTimeline?
    private let reach: LaneReach?
    private let state = Mutex(State())
    private let running = DispatchGroup()
    private let asked = Atomic<Int>(0)

    init(
        _ address: PostgreSQLAddress, timeouts: PostgreSQLTimeouts, limit: Int, isReadOnly: Bool = false,
        followed: FollowedTimeline? = nil, reach: LaneReach? = nil
    ) {
        (self.followed, self.reach) = (followed, reach)
        self.address = address
        self.timeouts = timeouts
        self.limit = limit
        self.isReadOnly = isReadOnly
    }

    /// Puts a job in line.
    func submit(_ job: Job) {
        let next = state.withLock { state -> Next in
            guard !state.isClosed else { return .refuse(.closed) }
            guard state.line.append(job) else { return .refuse(.unavailable(reason: "too many callers wait")) }
            return find(&state)
        }
        carryOut(next, job)
    }

    /// Puts a job in line again after a pause, in which it has no connection.
    private func submit(_ job: Job, after pause: TimeInterval) {
        state.withLock { $0.pausing += 1 }
        DispatchQueue.global().asyncAfter(deadline: .now() + pause) { [self] in
            var job = job
            job.since = .now
            let next = state.withLock { state -> Next in
                state.pausing -= 1
                guard state.again.append(job) else { return .refuse(.unavailable(reason: "too many callers wait")) }
                return find(&state)
            }
            carryOut(next, job)
        }
    }

    /// Finds somebody for what was put in line.
    private func find(_ state: inout State) -> Next {
        if let idle = state.idle.popLast() { return .wake(idle) }
        guard state.threads < limit else { return .wait }
        state.threads += 1
        running.enter()
        return .start
    }

    private func carryOut(_ next: Next, _ job: Job) {
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
        let session = PostgreSQLSession(
            address, timeouts: timeouts, isReadOnly: isReadOnly, followed: followed, reach: reach
        ) { [self] in
            asked.add($0, ordering: .relaxed)
        }
        let semaphore = DispatchSemaphore(value: 0)
        while let job = next(semaphore) {
            guard var job else {
                semaphore.wait()
                continue
            }
            guard ContinuousClock.now - job.since < .seconds(timeouts.statement) else {
                job.refuse(.unavailable(reason: "no connection became free in time"))
                continue
            }
            if let pause = job.run(session, &job.retries) { submit(job, after: pause) }
        }
        session.close()
        running.leave()
    }

    /// What a thread does next: a job, or to wait for one. `nil` where it ends, and with it the others.
    private func next(_ semaphore: DispatchSemaphore) -> Job?? {
        let (next, others) = state.withLock { state -> (Job??, [DispatchSemaphore]) in
            if let job = state.again.take(atMost: 1).first ?? state.line.take(atMost: 1).first { return (job, []) }
            guard state.isClosed, state.pausing == 0 else {
                state.idle.append(semaphore)
                return (.some(nil), [])
            }
            defer { state.idle = [] }
            return (nil, state.idle)
        }
        for other in others { other.signal() }
        return next
    }
}
