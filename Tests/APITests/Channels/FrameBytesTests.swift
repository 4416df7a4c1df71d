import NIOCore
import NIOEmbedded
import Testing

@testable import API

@Suite("The bytes of frames between two flushes")
struct FrameBytesTests {
    private let loop = EmbeddedEventLoop()

    @Test("are one piece in their order, and complete every promise")
    func joined() throws {
        var bytes = FrameBytes()
        let promises = (0..<3).map { _ in loop.makePromise(of: Void.self) }
        for (index, promise) in promises.enumerated() {
            let isAdded = bytes.add(ByteBuffer(string: "frame \(index),"), index == 1 ? nil : promise)
            #expect(isAdded)
        }
        let (taken, nothing) = (bytes.take(), bytes.take())
        let joined = try #require(taken)
        #expect(joined.bytes == ByteBuffer(string: "frame 0,frame 1,frame 2,") && nothing == nil)
        var completed = 0
        for promise in promises { promise.futureResult.assumeIsolated().whenSuccess { completed += 1 } }
        joined.promise(on: loop)?.succeed()
        promises[1].succeed()
        #expect(completed == 3)
    }

    @Test("are no more than a record of TLS, and long ones are not copied")
    func bounds() throws {
        var bytes = FrameBytes()
        let short = ByteBuffer(repeating: 1, count: 4096)
        let added = (0..<4).map { _ in bytes.add(short, nil) }
        #expect(added == [true, true, true, true] && !bytes.fits(ByteBuffer(repeating: 1, count: 1)))
        let record = bytes.take()
        #expect(record?.bytes.readableBytes == 16_384)
        let long = ByteBuffer(repeating: 1, count: 4097)
        let isLongAdded = bytes.add(long, nil)
        let nothing = bytes.take()
        #expect(!bytes.fits(long) && !isLongAdded && nothing == nil)
    }
}
