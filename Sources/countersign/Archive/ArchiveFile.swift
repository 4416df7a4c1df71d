import Foundation
import Glibc

/// A file that gets its name only after it is complete and durable. Only its owner can read it.
struct ArchiveFile {
    private let path: String
    private let draft: String
    private let handle: FileHandle

    /// Starts a temporary file beside the final path.
    ///
    /// - Throws: ``CommandFailure``, also if the final path exists.
    init(path: String) throws(CommandFailure) {
        guard !KeyFile(path: path, isPrivate: true).exists else {
            throw CommandFailure("\(path) exists and is not replaced: choose another name.")
        }
        self.path = path
        draft = path + ".\(UInt64.random(in: 1...UInt64.max)).part"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno))).")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        do { try handle.write(contentsOf: Data(bytes)) } catch { throw CommandFailure("\(path) cannot be written.") }
    }

    /// Makes the file durable and gives it its name.
    func finish() throws(CommandFailure) {
        do { try handle.synchronize() } catch { throw CommandFailure("\(path) cannot be made durable.") }
        guard rename(draft, path) == 0 else {
            throw CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno))).")
        }
        try KeyFile(path: path, isPrivate: true).synchronizeDirectory()
    }

    /// Deletes the temporary file, if it will not be finished.
    func discard() {
        unlink(draft)
    }
}
