// The compiler counts `stat` to either of these, by what it happened to read first.
import CoreFoundation
import Foundation
import Glibc

/// One file of the keys' directory.
struct KeyFile: Sendable {
    let path: String
    /// Whether it holds a secret: mode 0600, and refused where others may read it.
    let isPrivate: Bool

    /// Larger files are refused.
    static let maximumSize = 65_536

    /// Whether something is there under the name.
    var exists: Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Reads the file's text. Mode and content are those of the same open file, whatever happens to the name meanwhile.
    ///
    /// - Throws: ``CommandFailure`` that says how to mend it.
    func read() throws(CommandFailure) -> String {
        // Without O_NONBLOCK a named pipe would hold the start up.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw CommandFailure("\(path) cannot be read: \(Self.reason()).") }
            throw KeyFiles.missing(path)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure("\(path) is no regular file.")
        }
        guard !isPrivate || status.st_mode & 0o077 == 0 else {
            throw CommandFailure("\(path) is a private key that others may read; run `chmod 600 \(path)`.")
        }
        guard let data = try? handle.read(upToCount: Self.maximumSize + 1), data.count <= Self.maximumSize,
            let text = String(bytes: data, encoding: .utf8)
        else { throw CommandFailure("\(path) is empty or holds something else than text.") }
        return text
    }

    /// Makes the file with all of its content at once, and never in place of another: the content goes to a file of a
    /// random name, which is then linked under the right one (`link` fails where that exists).
    ///
    /// - Throws: ``CommandFailure``.
    func create(_ content: String) throws(CommandFailure) {
        let draft = path + ".\(UInt64.random(in: 1...UInt64.max)).new"
        let mode: mode_t = isPrivate ? 0o600 : 0o644
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw CommandFailure("\(path) cannot be created: \(Self.reason()).") }
        defer { unlink(draft) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: Data(content.utf8))
            try handle.synchronize()
        } catch {
            throw CommandFailure("\(path) cannot be written.")
        }
        // The mode of `open` is cut by the umask.
        guard fchmod(descriptor, mode) == 0, link(draft, path) == 0 else {
            throw CommandFailure("\(path) cannot be created: \(Self.reason()).")
        }
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
