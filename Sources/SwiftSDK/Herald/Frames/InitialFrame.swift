/// The first frame of a client: the protocol's word, its version, and the largest frame that the client accepts (source
/// table 24).
public struct InitialFrame: Sendable, Equatable {
    /// The frame's size on the wire, in bytes.
    static let length = 11
    /// A smaller frame would contain little more than its own fields.
    static let smallestFrame: UInt32 = 16
    /// The protocol's word and the version 1.1.
    private static let beginning = Array("LAYER".utf8) + [1, 1]

    /// The largest frame to the client, in bytes, size field included.
    public let frameSize: UInt32

    public init(frameSize: UInt32) { self.frameSize = frameSize }

    public var bytes: [UInt8] { Self.beginning + frameSize.bigEndianBytes }

    /// Parses the frame; `nil` until it is complete. Errors are detected at the first wrong byte.
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

    /// Parses bytes as a big-endian number.
    init(bigEndian bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self($1) }
    }
}
