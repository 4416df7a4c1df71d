import NIOCore
import Synchronization

/// Ticks the Herald connections of one event loop, each once a ``HeraldClock/tick``.
///
/// They share one timer: a timer for each costs several times the work of a tick. They are ticked in slices, so that
/// other work on the loop never waits for all of them.
final class HeraldTicker {
    private static let sliceCount = 10

    private let loop: any EventLoop
    private var slices = [[ObjectIdentifier: HeraldHandler]](repeating: [:], count: sliceCount)
    private var next = 0
    private var timer: RepeatedTask?

    init(on loop: any EventLoop) { self.loop = loop }

    func insert(_ handler: HeraldHandler) {
        guard let slice = slices.indices.min(by: { slices[$0].count < slices[$1].count }) else { return }
        slices[slice][ObjectIdentifier(handler)] = handler
        guard timer == nil else { return }
        let this = NIOLoopBound(self, eventLoop: loop)
        let pause = TimeAmount.nanoseconds(HeraldClock.tick.nanoseconds / Int64(Self.sliceCount))
        timer = loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in this.value.tick() }
    }

    func remove(_ handler: HeraldHandler) {
        for slice in slices.indices where slices[slice].removeValue(forKey: ObjectIdentifier(handler)) != nil { break }
        guard slices.allSatisfy(\.isEmpty) else { return }
        timer?.cancel()
        timer = nil
    }

    private func tick() {
        next = (next + 1) % slices.count
        // A copy, because closed handlers remove themselves.
        for handler in slices[next].values { handler.tick() }
    }
}

/// The tickers of a listener, one for each event loop.
final class HeraldTickers: Sendable {
    private let tickers = Mutex<[ObjectIdentifier: NIOLoopBound<HeraldTicker>]>([:])

    /// The ticker of an event loop. Call on that event loop.
    func of(_ loop: any EventLoop) -> HeraldTicker {
        tickers.withLock { tickers in
            if let ticker = tickers[ObjectIdentifier(loop)] { return ticker }
            let ticker = NIOLoopBound(HeraldTicker(on: loop), eventLoop: loop)
            tickers[ObjectIdentifier(loop)] = ticker
            return ticker
        }.value
    }
}
