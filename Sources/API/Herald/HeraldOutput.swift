import Herald
import NIOCore

/// A connection's unsent output: waiting frames, and bytes that were passed to TLS but not sent.
final class HeraldOutput {
    /// The largest frame to the client, bytes, even if the client accepts larger ones. So a long answer delays others
    /// no longer than that.
    private static let largestFrame = 16_384
    /// The bytes that are passed to TLS at once.
    static let piece = AnswerPaceHandler.piece

    private var frames = FrameWriter(maximumFrame: largestFrame)
    private var unsent = 0
    /// The claims of waiting answers, by channel.
    private var claims: [UInt8: [ResponseClaim]] = [:]
    /// Since when a piece waits that the client has not read.
    private(set) var began: NIODeadline?

    /// Sets the largest frame that the client accepts.
    func begin(_ initial: InitialFrame) {
        frames = FrameWriter(maximumFrame: min(Int(clamping: initial.frameSize), Self.largestFrame))
    }

    /// The number of bytes that the client has not read.
    var owed: Int { frames.count + unsent }

    var isEmpty: Bool { frames.isEmpty && unsent == 0 }

    func write(_ frame: Frame) { frames.write(frame) }

    /// - Parameter claim: the answer's claim; it ends when the channel's output was sent.
    func write(_ answer: [UInt8], on channel: UInt8, _ claim: ResponseClaim?) {
        frames.write(answer, packet: PacketType.normalizedMessage, on: channel)
        if let claim { claims[channel, default: []].append(claim) }
    }

    /// Asks the client to synchronize; `false` if an earlier request has not been sent yet.
    func askToSynchronize(on channel: UInt8) -> Bool {
        guard !frames.holds(channel) else { return false }
        frames.write([], packet: PacketType.synchronizationRequest, on: channel)
        return true
    }

    func drop(_ channel: UInt8) {
        frames.drop(channel)
        endClaims()
    }

    func dropAll() {
        frames.dropAll()
        endClaims()
    }

    /// Ends the claims of channels without more output.
    private func endClaims() {
        for (channel, ended) in claims where !frames.holds(channel) {
            claims[channel] = nil
            for claim in ended { claim.end() }
        }
    }

    /// Sends while the client reads.
    ///
    /// - Parameter onTaken: called after bytes were sent, in a later turn of the event loop.
    func send(_ context: ChannelHandlerContext, onTaken: @escaping () -> Void) {
        while context.channel.isActive, context.channel.isWritable, !frames.isEmpty {
            let bytes = frames.next(Self.piece)
            unsent += bytes.count
            if !claims.isEmpty { endClaims() }
            if began == nil { began = .now() }
            let loop = context.eventLoop.assumeIsolated()
            let left = context.eventLoop.makePromise(of: Void.self)
            left.futureResult.assumeIsolated().whenComplete { [self] _ in
                unsent -= bytes.count
                began = isEmpty ? nil : .now()
                loop.execute(onTaken)
            }
            context.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: left)
        }
    }
}
