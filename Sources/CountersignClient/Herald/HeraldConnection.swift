import Herald
import NIOCore
import NIOPosix
import NIOSSL

/// One connection of Herald, with a session that acts on it: calls on four channels, and one channel on which the service
/// says that there is something to synchronize.
actor HeraldConnection {
    /// Why calls do not go by this connection.
    enum Failure: Error {
        /// The server does not speak Herald, or refuses the session: the JSON call says more.
        case refused
        /// The connection ended; the service may have acted.
        case broken
    }

    private struct Call {
        let channel: UInt8
        let sentAt: ContinuousClock.Instant
        let answer: CheckedContinuation<ThriftMessage, any Error>
    }

    private static let pushChannel: UInt8 = 0
    private static let callChannels: ClosedRange<UInt8> = 1...4
    /// Bytes of the largest frame in either direction.
    private static let maximumFrame = 16_384 + DataFrame.overhead
    /// Values in one answer, which has a mebibyte at most.
    private static let maximumValues = 262_144

    private var channel: (any Channel)?
    private var outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>?
    private var reader = FrameReader(maximumFrame: maximumFrame)
    private var parts: [UInt8: [UInt8]] = [:]
    private var sequence: Int32 = 0
    private var calls: [Int32: Call] = [:]
    private var heardAt = ContinuousClock.now
    /// Control frames that have no response yet.
    private var unanswered = 0
    private var opening: CheckedContinuation<Void, any Error>?
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var nextWait = 0
    private(set) var isOver = false
    /// How often the service has said that there is something new.
    private(set) var pushes = 0

    /// Opens a connection, and lets a session act on it.
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

    /// What is sent first, once both are here: the writer, and whoever waits for the responses.
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

    // MARK: What comes

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
        // An error that answers nothing says what has become of the session.
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
        // The one with the fewest calls before this one: those of a channel follow each other.
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

    /// Gives a call up. A connection that was silent for all of its time is taken for dead.
    private func cancel(_ number: Int32) {
        guard let call = calls.removeValue(forKey: number) else { return }
        call.answer.resume(throwing: CancellationError())
        let isSilent = heardAt < call.sentAt && .now - call.sentAt > Transport.deadline - .seconds(1)
        if isSilent { close() }
    }

    private func fail(_ number: Int32, _ error: any Error) {
        calls.removeValue(forKey: number)?.answer.resume(throwing: error)
    }

    /// Waits until the service has said once more that there is something new, or the connection ends.
    ///
    /// - Parameter count: ``pushes`` before the question that found nothing.
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

    /// Ends the connection. The end of TLS may take seconds; nobody waits for it.
    func close() {
        channel?.close(promise: nil)
        end()
    }
}
