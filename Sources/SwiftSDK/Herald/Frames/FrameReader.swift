/// Splits a connection's input into frames, and buffers incomplete ones.
public struct FrameReader: Sendable {
    private let maximumFrame: Int
    private var bytes: [UInt8] = []
    private var start = 0
}

public extension FrameReader {
    /// - Parameter maximumFrame: the largest frame, in bytes, size field included.
    init(maximumFrame: Int) { self.maximumFrame = maximumFrame }

    var count: Int { bytes.count - start }

    mutating func append(_ new: [UInt8]) {
        if start == bytes.count {
            (bytes, start) = (new, 0)
            return
        }
        if start > bytes.count / 2 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: new)
    }

    /// The initial frame; `nil` until it is complete.
    ///
    /// - Throws: ``HeraldError`` `malformed`.
    mutating func initialFrame() throws(HeraldError) -> InitialFrame? {
        guard let frame = try InitialFrame.read(bytes[start...]) else { return nil }
        take(InitialFrame.length)
        return frame
    }

    /// The next frame; `nil` until it is complete. After an error nothing more can be read.
    ///
    /// - Throws: ``HeraldError`` `malformed`, `tooLarge`.
    mutating func frame() throws(HeraldError) -> Frame? {
        guard count >= Frame.sizeLength else { return nil }
        let size = UInt32(bigEndian: bytes[start...].prefix(Frame.sizeLength))
        guard size > 0 else { throw .malformed }
        guard Int(size) <= maximumFrame - Frame.sizeLength else { throw .tooLarge }
        guard count >= Frame.sizeLength + Int(size) else { return nil }
        let whole = bytes[start...].dropFirst(Frame.sizeLength).prefix(Int(size))
        guard let head = whole.first else { throw .malformed }
        let frame = try Frame(head: head, payload: whole.dropFirst())
        take(Frame.sizeLength + Int(size))
        return frame
    }

    private mutating func take(_ length: Int) {
        start += length
        // An idle connection keeps no buffer.
        if start == bytes.count { (bytes, start) = ([], 0) }
    }
}
