import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Passes bytes between a device and a service. If it is asked to lose an answer, what the service sends next is thrown
/// away, and the connection ends a moment later. If it is asked to hold requests, they wait here.
final class Relay: Sendable {
    let port: Int
    private let listener: any Channel
    private let isLosing: Losing
    private let holding = Holding()

    final class Losing: Sendable {
        private let value = Mutex(false)
        func set(_ now: Bool) { value.withLock { $0 = now } }
        /// Whether an answer is to be lost; true once.
        func take() -> Bool {
            value.withLock { now in
                defer { now = false }
                return now
            }
        }
    }

    /// Which connections are held, and those that hold something.
    private final class Holding: Sendable {
        private struct Facts {
            var newest = 0
            /// Connections up to this one are held.
            var last = 0
            var waiting: [Passage] = []
        }
        private let facts = Mutex(Facts())

        var number: Int {
            facts.withLock { facts in
                facts.newest += 1
                return facts.newest
            }
        }
        var isWaiting: Bool { facts.withLock { !$0.waiting.isEmpty } }
        func begin() { facts.withLock { $0.last = $0.newest } }
        /// Whether the connection is held; then it waits to be told of the end.
        func holds(_ number: Int, _ passage: Passage) -> Bool {
            facts.withLock { facts in
                guard number <= facts.last else { return false }
                facts.waiting.append(passage)
                return true
            }
        }
        func end() -> [Passage] {
            facts.withLock { facts in
                defer { (facts.waiting, facts.last) = ([], 0) }
                return facts.waiting
            }
        }
    }

    /// - Parameter target: a port of this machine.
    init(to target: Int) async throws {
        let losing = Losing()
        isLosing = losing
        let holding = holding
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { device in
                ClientBootstrap(group: device.eventLoop).connect(host: "127.0.0.1", port: target).flatMap { service in
                    device.pipeline.addHandler(Passage(to: service, holding: holding)).flatMap {
                        service.pipeline.addHandler(Passage(to: device, losing: losing))
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
    }

    deinit { listener.close(promise: nil) }

    /// The next answer is lost.
    func loseAnswer() { isLosing.set(true) }

    /// What devices send over the connections of now waits until ``release()``.
    func hold() { holding.begin() }

    /// Whether something waits.
    var isHolding: Bool { holding.isWaiting }

    /// What waited goes on.
    func release() { for passage in holding.end() { passage.release() } }

    private final class Passage: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        private let other: any Channel
        private let losing: Losing?
        private let holding: Holding?
        private let number: Int
        private let isLost = Mutex(false)
        /// What waits, in its order; `nil` if nothing does.
        private let held = Mutex<[ByteBuffer]?>(nil)

        init(to other: any Channel, losing: Losing? = nil, holding: Holding? = nil) {
            self.other = other
            self.losing = losing
            self.holding = holding
            number = holding?.number ?? 0
        }

        /// Whether the bytes wait, with those before them.
        private func hold(_ bytes: ByteBuffer) -> Bool {
            held.withLock { held in
                if held == nil, holding?.holds(number, self) == true { held = [] }
                held?.append(bytes)
                return held != nil
            }
        }

        /// On the loop of both channels, so that nothing overtakes what waited.
        func release() {
            other.eventLoop.execute {
                let bytes = self.held.withLock { held in
                    defer { held = nil }
                    return held ?? []
                }
                for bytes in bytes { self.other.writeAndFlush(bytes, promise: nil) }
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if isLost.withLock({ $0 }) { return }
            if losing?.take() == true {
                isLost.withLock { $0 = true }
                // The service goes on with what it was sent.
                let (one, other) = (context.channel, other)
                context.eventLoop.scheduleTask(in: .milliseconds(500)) {
                    one.close(promise: nil)
                    other.close(promise: nil)
                }
                return
            }
            let bytes = unwrapInboundIn(data)
            if !hold(bytes) { other.writeAndFlush(bytes, promise: nil) }
        }

        func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }
    }
}
