import Herald
import NIOCore

/// What a connection owes its client: frames that wait, and bytes that were handed to TLS and have not left.
final class HeraldOutput {
    /// Bytes of a frame to the client, however large it takes them: a long answer delays others by no more.
    private static let largestFrame = 16_384
    /// Bytes that are handed to TLS at once.
    static let piece = AnswerPaceHandler.piece

    private var frames = FrameWriter(maximumFrame: largestFrame)
    private var unsent = 0
    /// The claims of answers that wait, by channel.
    private var claims: [UInt8: [ResponseClaim]] = [:]
    /// Since when the client has taken no piece, though one waits.
    private(set) var began: NIODeadline?

    /// The client said how large frames may be.
    func begin(_ initial: InitialFrame) {
        frames = FrameWriter(maximumFrame: min(Int(clamping: initial.frameSize), Self.largestFrame))
    }

    /// Bytes that the client has not taken.
    var owed: Int { frames.count + unsent }

    var isEmpty: Bool { frames.isEmpty && unsent == 0 }

    func write(_ frame: Frame) { frames.write(frame) }

    /// - Parameter claim: the answer's; it ends when the channel has nothing more to send.
    func write(_ answer: [UInt8], on channel: UInt8, _ claim: ResponseClaim?) {
        frames.write(answer, packet: PacketType.normalizedMessage, on: channel)
        if let claim { claims[channel, default: []].append(claim) }
    }

    /// Asks the client to synchronize; `false` where it was asked, and that has not left.
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

    /// Ends the claims of channels that have nothing more to send.
    private func endClaims() {
        for (channel, ended) in claims where !frames.holds(channel) {
            claims[channel] = nil
            for claim in ended { claim.end() }
        }
    }

    /// Sends while the client takes it.
    ///
    /// - Parameter onTaken: called when bytes have left, in a turn of its own.
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
