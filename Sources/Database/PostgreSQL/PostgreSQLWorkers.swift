import Dispatch
import Foundation
import Synchronization

/// Threads with one connection each that execute jobs from one queue, so that no task's thread ever waits for the
/// server. A thread is started if all others are busy. The most recently busy one is woken first, which keeps few
/// connections in use under low load.
final class PostgreSQLWorkers: Sendable {
    struct Job: Sendable {
        /// Runs the body and completes its call, or returns how many seconds to wait before it is run again.
        let run: @Sendable (PostgreSQLSession, inout PostgreSQLRetries) -> TimeInterval?
        /// Reports to the caller that the body was not run, or that nothing of it was kept.
        let refuse: @Sendable (StoreError) -> Void
        var retries: PostgreSQLRetries
        var since = ContinuousClock.now
    }

    private struct State {
        var line = FIFOQueue<Job>()
        /// Jobs to run again. They precede the queued jobs.
        var again = FIFOQueue<Job>()
        /// The number of jobs in a pause before they run again.
        var pausing = 0
        var idle: [DispatchSemaphore] = []
        var threads = 0
        var isClosed = false
    }

    /// The next step for a queued job.
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

    /// Appends a job to the queue.
    func submit(_ job: Job) {
        let next = state.withLock { state -> Next in
            guard !state.isClosed else { return .refuse(.closed) }
            guard state.line.append(job) else { return .refuse(.unavailable(reason: "too many callers wait")) }
            return find(&state)
        }
        carryOut(next, job)
    }

    /// Appends a job to the queue after a pause, during which it has no connection.
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

    /// Finds a thread for the queued job.
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

    /// Accepts no more jobs, finishes the queued ones and closes the connections.
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

    /// The number of waits for the server so far.
    var exchanges: Int { asked.load(ordering: .relaxed) }

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

    /// A thread's next job, or `.some(nil)` to wait for one; `nil` if the thread must end. Then the idle threads are
    /// woken to end too.
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
