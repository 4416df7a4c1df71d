import Herald
import NIOCore
import NIOPosix
import NIOSSL

/// One Herald connection with a session: calls on four channels, and one channel on which the service announces
/// changes.
actor HeraldConnection {
    /// Why calls cannot use this connection.
    enum Failure: Error {
        /// The server does not support Herald, or refuses the session. The JSON call returns the reason.
        case refused
        /// The connection was lost. The service may have acted.
        case broken
    }

    private struct Call {
        let channel: UInt8
        let sentAt: ContinuousClock.Instant
        let answer: CheckedContinuation<ThriftMessage, any Error>
    }

    private static let pushChannel: UInt8 = 0
    private static let callChannels: ClosedRange<UInt8> = 1...4
    /// The maximum size of a frame in bytes, in either direction.
    private static let maximumFrame = 16_384 + DataFrame.overhead
    /// The maximum number of values in a response, which has at most a mebibyte.
    private static let maximumValues = 262_144

    private var channel: (any Channel)?
    private var outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>?
    private var reader = FrameReader(maximumFrame: maximumFrame)
    private var parts: [UInt8: [UInt8]] = [:]
    private var sequence: Int32 = 0
    private var calls: [Int32: Call] = [:]
    private var heardAt = ContinuousClock.now
    /// The number of control frames without a response.
    private var unanswered = 0
    private var opening: CheckedContinuation<Void, any Error>?
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var nextWait = 0
    private(set) var isOver = false
    /// The number of announced changes.
    private(set) var pushes = 0

    /// Opens a connection and authenticates a session.
    ///
    /// - Throws: ``Failure``, or an error of the connection.
    static func open(_ place: Place, token: String) async throws -> HeraldConnection {
        let channel = try await place.connect()
        let connection = HeraldConnection()
        let timer = channel.channel.eventLoop.scheduleTask(in: .seconds(5)) { channel.channel.close(promise: nil) }
        defer { timer.cancel() }
        Task { await connection.run(channel) }
        try await connection.begin(token)
        return connection
    }

    private func run(_ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>) async {
        self.channel = channel.channel
        try? await channel.executeThenClose { inbound, outbound in
            self.outbound = outbound
            try await greet()
            for try await buffer in inbound { try receive(Array(buffer.readableBytesView)) }
        }
        end()
    }

    /// The first bytes, sent when both the writer and the receiver of responses exist.
    private var greeting: [UInt8]?

    private func begin(_ token: String) async throws {
        greeting =
            InitialFrame(frameSize: UInt32(Self.maximumFrame)).bytes
            + Frame.authenticate(token: Array(token.utf8)).bytes
            + Frame.addChannel(Self.pushChannel, type: ChannelKind.push.rawValue).bytes
            + Self.callChannels.flatMap { Frame.addChannel($0, type: ChannelKind.rpc.rawValue).bytes }
        unanswered = 2 + Self.callChannels.count
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            guard !isOver else { return continuation.resume(throwing: Failure.refused) }
            opening = continuation
            Task { try? await greet() }
        }
    }

    private func greet() async throws {
        guard let outbound, let bytes = greeting else { return }
        greeting = nil
        try await outbound.write(ByteBuffer(bytes: bytes))
    }

    // MARK: Incoming frames

    private func receive(_ bytes: [UInt8]) throws {
        reader.append(bytes)
        heardAt = .now
        while let frame = try reader.frame() {
            switch frame {
            case .response(let error): try respond(error)
            case .data(let data): try take(data)
            case .keepalive: break
            case .authenticate, .addChannel, .deleteChannel: throw HeraldError.malformed
            }
        }
    }

    private func respond(_ error: HeraldError?) throws {
        // An error without a request means that the session is no longer valid.
        guard error == nil, unanswered > 0 else { throw Failure.refused }
        unanswered -= 1
        if unanswered == 0 {
            opening?.resume()
            opening = nil
        }
    }

    private func take(_ data: DataFrame) throws {
        if data.channel == Self.pushChannel {
            guard data.packet == PacketType.synchronizationRequest else { throw HeraldError.invalidType }
            pushes &+= 1
            wakeAll()
            return
        }
        guard Self.callChannels.contains(data.channel) else { throw HeraldError.unknownChannel }
        var message = parts.removeValue(forKey: data.channel) ?? []
        guard data.total <= Transport.maximumAnswer, message.count + data.payload.count <= Int(data.total) else {
            throw HeraldError.tooLarge
        }
        message += data.payload
        guard message.count == Int(data.total) else {
            parts[data.channel] = message
            return
        }
        let reply = try ThriftReader.message(message, maximumValues: Self.maximumValues)
        calls.removeValue(forKey: reply.sequence)?.answer.resume(returning: reply)
    }

    private func end() {
        isOver = true
        (channel, outbound) = (nil, nil)
        opening?.resume(throwing: Failure.refused)
        opening = nil
        for call in calls.values { call.answer.resume(throwing: Failure.broken) }
        calls = [:]
        wakeAll()
    }

    // MARK: Calls

    /// Makes a call.
    ///
    /// - Throws: ``Failure``; `CancellationError`.
    func call(_ call: HeraldCall) async throws -> ThriftMessage {
        guard let outbound, !isOver else { throw Failure.refused }
        sequence &+= 1
        let number = sequence
        // The channel with the fewest pending calls, because calls on one channel are sequential.
        let busy = calls.values.reduce(into: [UInt8: Int]()) { $0[$1.channel, default: 0] += 1 }
        let channel = Self.callChannels.min { busy[$0, default: 0] < busy[$1, default: 0] } ?? 1
        var writer = FrameWriter(maximumFrame: Self.maximumFrame)
        writer.write(call.message(number).bytes, packet: PacketType.normalizedMessage, on: channel)
        let bytes = writer.next(.max)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                calls[number] = Call(channel: channel, sentAt: .now, answer: continuation)
                Task {
                    do { try await outbound.write(ByteBuffer(bytes: bytes)) } catch { fail(number, Failure.broken) }
                }
            }
        } onCancel: {
            Task { await cancel(number) }
        }
    }

    /// Cancels a call. A connection without any bytes during the whole time limit is considered dead.
    private func cancel(_ number: Int32) {
        guard let call = calls.removeValue(forKey: number) else { return }
        call.answer.resume(throwing: CancellationError())
        let isSilent = heardAt < call.sentAt && .now - call.sentAt > Transport.deadline - .seconds(1)
        if isSilent { close() }
    }

    private func fail(_ number: Int32, _ error: any Error) {
        calls.removeValue(forKey: number)?.answer.resume(throwing: error)
    }

    /// Waits until the service announces another change, or the connection ends.
    ///
    /// - Parameter count: ``pushes`` before the query that found nothing.
    func push(after count: Int) async {
        guard pushes == count, !isOver else { return }
        nextWait &+= 1
        let number = nextWait
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiting[number] = $0 }
        } onCancel: {
            Task { await wake(number) }
        }
    }

    private func wake(_ number: Int) { waiting.removeValue(forKey: number)?.resume() }

    private func wakeAll() {
        for continuation in waiting.values { continuation.resume() }
        waiting = [:]
    }

    /// Closes the connection without waiting for the end of TLS, which may take seconds.
    func close() {
        channel?.close(promise: nil)
        end()
    }
}
