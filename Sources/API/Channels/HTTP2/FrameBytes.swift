import NIOCore

/// The bytes of short frames between two flushes, so that TLS encrypts them as one record.
///
/// The library writes the header of a DATA frame and its content apart. TLS makes a record of each write, with about 20
/// bytes and a call of the cipher. An answer of the fast path would be three records (Upstream.md).
struct FrameBytes {
    /// A longer piece is written as it is: a copy of it would cost more than its record.
    private static let longest = 4096
    /// The content of a full TLS record (RFC 8446 §5.1).
    private static let record = 16_384

    /// What is written at once.
    struct Joined {
        let bytes: ByteBuffer
        let promises: [EventLoopPromise<Void>]
    }

    private var bytes = ByteBuffer()
    private var promises: [EventLoopPromise<Void>] = []

    /// Whether a piece may be added. If not, what was joined is written before it.
    func fits(_ piece: ByteBuffer) -> Bool {
        piece.readableBytes <= Self.longest && bytes.readableBytes + piece.readableBytes <= Self.record
    }

    /// Adds a piece that ``fits(_:)``, or that is short and the first one; `false` if it is too long.
    mutating func add(_ piece: ByteBuffer, _ promise: EventLoopPromise<Void>?) -> Bool {
        guard fits(piece) else { return false }
        if bytes.readableBytes == 0 { bytes = ByteBufferAllocator().buffer(capacity: 1024) }
        bytes.writeImmutableBuffer(piece)
        if let promise { promises.append(promise) }
        return true
    }

    /// Removes what was joined; `nil` if there is nothing.
    mutating func take() -> Joined? {
        guard bytes.readableBytes > 0 else { return nil }
        defer { (bytes, promises) = (ByteBuffer(), []) }
        return Joined(bytes: bytes, promises: promises)
    }
}

extension FrameBytes.Joined {
    /// A promise that completes all others; `nil` if there is none.
    func promise(on eventLoop: any EventLoop) -> EventLoopPromise<Void>? {
        guard promises.count > 1 else { return promises.first }
        let all = eventLoop.makePromise(of: Void.self)
        for promise in promises { all.futureResult.cascade(to: promise) }
        return all
    }
}
