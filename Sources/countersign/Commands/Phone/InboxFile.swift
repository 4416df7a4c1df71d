import Domain
import Foundation

/// A line of a file, without its line feed.
struct TextLine {
    /// The offset of the line's first byte in the file.
    let offset: UInt64
    let bytes: [UInt8]

    /// The complete lines in a part of a file, and the incomplete rest.
    static func lines(_ bytes: [UInt8], at offset: UInt64) -> (whole: [TextLine], rest: [UInt8]) {
        var start = bytes.startIndex
        var whole: [TextLine] = []
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            whole.append(TextLine(offset: offset + UInt64(start), bytes: Array(bytes[start..<end])))
            start = end + 1
        }
        return (whole, Array(bytes[start...]))
    }
}

/// The file of the file sender. It may be long, so it is read from its end.
struct InboxFile {
    let path: String
    var exists: Bool { FileManager.default.fileExists(atPath: path) }
    /// Bytes read at a time.
    static let block: UInt64 = 1_048_576

    /// The last entries, oldest first, and the offset at which their part of the file ends.
    ///
    /// - Parameter cursor: the offset of a line: only lines before it are returned.
    func last(
        _ limit: Int, before cursor: UInt64?, where isWanted: (InboxEntry) -> Bool
    ) -> (entries: [InboxEntry], end: UInt64) {
        guard let handle = FileHandle(forReadingAtPath: path), let size = try? handle.seekToEnd() else {
            return ([], 0)
        }
        defer { try? handle.close() }
        let end = min(cursor ?? size, size)
        var (start, begun) = (end, [UInt8]())
        var found: [InboxEntry] = []
        var last = end
        repeat {
            let from = start > Self.block ? start - Self.block : 0
            guard (try? handle.seek(toOffset: from)) != nil,
                let block = try? handle.read(upToCount: Int(clamping: start - from)),
                UInt64(block.count) == start - from
            else { break }
            var bytes = Array(block) + begun
            // The part before the first line feed belongs to the previous block.
            begun = []
            var offset = from
            if from > 0 {
                let line = bytes.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.endIndex
                begun = Array(bytes[..<line])
                bytes = Array(bytes[line...])
                offset += UInt64(line)
            }
            let (whole, rest) = TextLine.lines(bytes, at: offset)
            if start == end { last = end - UInt64(rest.count) }
            found.insert(contentsOf: whole.compactMap(InboxEntry.init).filter(isWanted), at: 0)
            start = from
        } while start > 0 && found.count < limit
        return (found.suffix(limit), last)
    }
}

/// A file that grows, read line by line.
struct GrowingFile {
    let path: String
    /// The offset up to which lines were returned.
    var offset: UInt64

    /// The complete lines that were added since the last call.
    mutating func next() -> [TextLine] {
        guard let handle = FileHandle(forReadingAtPath: path), let end = try? handle.seekToEnd() else { return [] }
        defer { try? handle.close() }
        // A shorter file is a new file.
        if offset > end { offset = 0 }
        guard (try? handle.seek(toOffset: offset)) != nil, let data = try? handle.readToEnd() else { return [] }
        let (whole, rest) = TextLine.lines(Array(data), at: offset)
        offset += UInt64(data.count - rest.count)
        return whole
    }
}
