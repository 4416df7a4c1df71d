/// What a client sends first: the protocol's word, its version, and the largest frame that it takes (source table 24).
package struct InitialFrame: Sendable, Equatable {
    /// Bytes on the wire.
    package static let length = 11
    /// A smaller one would hold hardly more than its own fields.
    package static let smallestFrame: UInt32 = 16
    /// The word and the version 1.1, as they stand on the wire.
    private static let beginning = Array("LAYER".utf8) + [1, 1]

    /// The largest frame to the client, bytes, its size field included.
    package let frameSize: UInt32

    package init(frameSize: UInt32) { self.frameSize = frameSize }

    package var bytes: [UInt8] { Self.beginning + frameSize.bigEndianBytes }

    /// Reads one; `nil` where more bytes must come. What is wrong is seen with its first byte.
    ///
    /// - Throws: ``HeraldError`` `malformed`.
    static func read(_ bytes: ArraySlice<UInt8>) throws(HeraldError) -> InitialFrame? {
        guard bytes.starts(with: beginning.prefix(bytes.count)) else { throw .malformed }
        guard bytes.count >= length else { return nil }
        let size = UInt32(bigEndian: bytes.dropFirst(beginning.count).prefix(4))
        guard size >= smallestFrame else { throw .malformed }
        return InitialFrame(frameSize: size)
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// The number in some bytes, the highest first.
    init(bigEndian bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self($1) }
    }
}
