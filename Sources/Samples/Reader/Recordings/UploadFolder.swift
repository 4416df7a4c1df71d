import Crypto
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// The files of recordings that are not in the archive yet. File access runs on a thread pool, because it blocks.
final class UploadFolder: Sendable {
    private let folder: URL
    /// The recordings that a request or the background loop works on.
    private let busy = Mutex<Set<String>>([])

    init(path: String) throws {
        folder = URL(filePath: path, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Reserves a recording for the caller, who calls ``release(_:)`` after it.
    ///
    /// - Returns: `false` if another caller has it.
    func reserve(_ id: String) -> Bool { busy.withLock { $0.insert(id).inserted } }

    func release(_ id: String) { busy.withLock { _ = $0.remove(id) } }

    /// - Parameter id: an id of this server's own, never a client's text.
    func file(_ id: String) -> URL { folder.appending(path: "\(id).part") }

    /// The ids of all files.
    func ids() async throws -> [String] {
        let folder = folder
        return try await NIOThreadPool.singleton.runIfActive {
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "part" }.map { $0.deletingPathExtension().lastPathComponent }
        }
    }

    func remove(_ id: String) async throws {
        let file = file(id)
        try await NIOThreadPool.singleton.runIfActive {
            guard FileManager.default.fileExists(atPath: file.path) else { return }
            try FileManager.default.removeItem(at: file)
        }
    }

    /// The SHA-256 of a file in hexadecimal digits, and its first bytes.
    func inspect(_ id: String) async throws -> (sha256: String, head: Data) {
        let file = file(id)
        return try await NIOThreadPool.singleton.runIfActive {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            var (digest, head) = (SHA256(), Data())
            while let part = try handle.read(upToCount: 1 << 20), !part.isEmpty {
                if head.isEmpty { head = part.prefix(AudioKind.headLength) }
                digest.update(data: part)
            }
            return (digest.finalize().hexadecimal, head)
        }
    }

    /// Opens a recording's file to write from an offset. Bytes after it, which were not confirmed, are dropped.
    func writer(_ id: String, at offset: Int64) async throws -> Writer {
        let file = file(id)
        let handle = try await NIOThreadPool.singleton.runIfActive {
            if !FileManager.default.fileExists(atPath: file.path) {
                guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
                    throw CocoaError(.fileWriteUnknown)
                }
            }
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: UInt64(offset))
            try handle.seek(toOffset: UInt64(offset))
            return handle
        }
        return Writer(handle)
    }

    /// A file that is written. A cancelled upload returns while a thread still writes, so closing waits for that thread:
    /// to write to a closed file would end the process.
    final class Writer: Sendable {
        /// `nil` after it was closed.
        private let handle: Mutex<FileHandle?>

        fileprivate init(_ handle: sending FileHandle) { self.handle = Mutex(handle) }

        func write(_ bytes: ByteBuffer) async throws {
            try await NIOThreadPool.singleton.runIfActive {
                try self.handle.withLock { handle in
                    guard let handle else { throw CocoaError(.fileWriteUnknown) }
                    try handle.write(contentsOf: Data(bytes.readableBytesView))
                }
            }
        }

        /// Writes everything to the disk, so that a confirmed byte survives a crash.
        func close() async throws {
            try await NIOThreadPool.singleton.runIfActive {
                try self.handle.withLock { handle in
                    guard let open = handle.take() else { return }
                    try open.synchronize()
                    try open.close()
                }
            }
        }
    }
}

extension Sequence where Element == UInt8 {
    /// The bytes in lower-case hexadecimal digits.
    var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
