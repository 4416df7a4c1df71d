import CountersignClient
import Foundation

extension LocalStreams {
    /// Sends local changes, and receives remote ones.
    ///
    /// - Parameter seconds: how long the service may wait for a change; up to 25.
    public func synchronize(wait seconds: Int = 0) async throws(Refusal) {
        try await write { try $0.beginAnewIfAbsent(at: Date()) }
        try await publish()
        // Messages that an earlier run announced and did not fetch.
        try await fetch()
        var wait = seconds
        var hasMore = true
        while hasMore {
            let anchor = try await read { try $0.anchor() }
            let page = try await streams.synchronize(since: anchor, wait: wait, presenceOf: Array(watched.keys))
            try await write { try $0.apply(page, since: anchor, at: Date()) }
            for typist in page.typing { typists.send(typist) }
            take(page.presence)
            try await fetch()
            (hasMore, wait) = (page.hasMore, 0)
        }
        try await deliver()
        try await removeDeletedWords()
    }

    /// Synchronizes as long as the task runs, so that changes on either side reach the other at once.
    ///
    /// - Parameter onFailure: called with each refusal. The next attempt follows after two seconds, later after a
    ///   minute.
    public func run(onFailure: @Sendable (Refusal) -> Void = { _ in }) async {
        running += 1
        defer { running -= 1 }
        var failures = 0
        while !Task.isCancelled {
            do throws(Refusal) {
                try await synchronize(wait: Streams.longestWait)
                failures = 0
            } catch {
                if Task.isCancelled { return }
                onFailure(error)
                failures = min(failures + 1, 6)
                let pause = max(min(60, 1 << failures), error.problem?.retryAfter ?? 0)
                guard (try? await Task.sleep(for: .seconds(pause))) != nil else { return }
            }
        }
    }

    /// Fetches a page of older messages of a stream.
    ///
    /// - Returns: whether there are more before them.
    @discardableResult
    public func loadEarlier(in stream: UUID) async throws(Refusal) -> Bool {
        let first = try await read { try $0.first(of: stream) }
        guard first > 1 else { return false }
        let page = try await streams.messages(in: stream, before: first)
        try await write { try $0.take(page, of: stream, .before) }
        return page.hasMore
    }

    /// Publishes all waiting events, one run at a time.
    func publish() async throws(Refusal) {
        while let publishing { _ = await publishing.value }
        let task = Task {
            let result: Result<Void, Refusal>
            do throws(Refusal) {
                try await publishPending()
                result = .success(())
            } catch {
                result = .failure(error)
            }
            publishing = nil
            return result
        }
        publishing = task
        try await task.value.get()
    }

    private func publishPending() async throws(Refusal) {
        var number: Int64 = 0
        while true {
            let mark = number
            let batch = try await write { store in
                try store.reconcileOutbound()
                return try store.pending(after: mark, limit: 20)
            }
            guard !batch.isEmpty else { return }
            for one in batch {
                number = one.number
                try await publish(one)
            }
        }
    }

    private func publish(_ one: Reconciler.Unpublished) async throws(Refusal) {
        guard try await write({ try $0.count(one) }) else { return }
        let answer: SentMessage?
        do throws(Refusal) {
            answer = try await one.event.publish(to: streams)
        } catch {
            switch Synchronizer.outcome(of: error, for: one.event) {
            case .later: throw error
            case .done: return try await write { try $0.confirm(one, nil) }
            case .refused(let code): return try await write { try $0.refuse(one, code) }
            }
        }
        try await write { try $0.confirm(one, answer) }
    }

    /// Fetches the messages that the service has and the device lacks.
    private func fetch() async throws(Refusal) {
        while true {
            let fetches = Synchronizer.fetches(try await read { try $0.progress() })
            guard !fetches.isEmpty else { return }
            for fetch in fetches { try await carryOut(fetch) }
        }
    }

    private func carryOut(_ fetch: Synchronizer.Fetch) async throws(Refusal) {
        let (stream, direction): (UUID, Reconciler.Direction) =
            switch fetch {
            case .newest(let stream): (stream, .newest)
            case .after(let stream, _): (stream, .after)
            }
        let page: Streams.Messages
        do throws(Refusal) {
            page =
                switch fetch {
                case .newest: try await streams.messages(in: stream, before: nil)
                case .after(_, let sequence): try await streams.messages(in: stream, after: sequence)
                }
        } catch {
            guard case .service(let problem) = error, [.conflict, .notFound].contains(problem.code) else { throw error }
            return try await write { try $0.close(stream, .closed) }
        }
        try await write { try $0.take(page, of: stream, direction) }
    }

    /// Reports which messages have reached this device.
    private func deliver() async throws(Refusal) {
        for (stream, through) in try await read({ try $0.deliveries() }) {
            do throws(Refusal) {
                try await streams.acknowledge(deliveredThrough: through, in: stream)
            } catch {
                guard case .service(let problem) = error, [.conflict, .notFound].contains(problem.code) else {
                    throw error
                }
            }
            try await write { try $0.delivered(stream, through: through) }
        }
    }
}
