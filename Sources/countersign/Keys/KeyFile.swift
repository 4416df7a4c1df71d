// The compiler attributes `stat` to either of these modules, depending on its order of reading.
import CoreFoundation
import Foundation
import Glibc

/// One file of the keys' directory.
struct KeyFile: Sendable {
    let path: String
    /// Whether it contains a secret: created with mode 0600, and refused if other users may read it.
    let isPrivate: Bool

    static let maximumSize = 65_536

    /// Whether a file with this name exists.
    var exists: Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Reads the file's text. Mode and content come from the same open file, even if the name is changed meanwhile.
    ///
    /// - Throws: ``CommandFailure`` that names the fix.
    func read() throws(CommandFailure) -> String {
        // Without O_NONBLOCK a named pipe would block the start.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw CommandFailure("\(path) cannot be read: \(Self.reason()).") }
            throw KeyFiles.missing(path)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure("\(path) is not a regular file.")
        }
        guard !isPrivate || status.st_mode & 0o077 == 0 else {
            throw CommandFailure("\(path) is a private key that other users may read; run `chmod 600 \(path)`.")
        }
        guard let data = try? handle.read(upToCount: Self.maximumSize + 1), data.count <= Self.maximumSize,
            let text = String(bytes: data, encoding: .utf8)
        else { throw CommandFailure("\(path) is empty or is not text.") }
        return text
    }

    /// Whether another file has the same text; `false` if there is no other file.
    func hasSameText(as other: KeyFile) throws(CommandFailure) -> Bool {
        guard other.exists else { return false }
        return try read().utf8.elementsEqual(try other.read().utf8)
    }

    /// Creates the file with all of its content at once, and never replaces another. The content is written to a file
    /// with a random name, which is then linked to the final one (`link` fails if that exists).
    ///
    /// - Throws: ``CommandFailure``.
    func create(_ content: String) throws(CommandFailure) {
        let draft = try writeDraft(content)
        defer { unlink(draft) }
        guard link(draft, path) == 0 else { throw CommandFailure("\(path) cannot be created: \(Self.reason()).") }
    }

    /// Replaces the content atomically: a reader sees the old content or the new one, also after a power failure.
    ///
    /// - Throws: ``CommandFailure``.
    func replace(_ content: String) throws(CommandFailure) {
        let draft = try writeDraft(content)
        guard rename(draft, path) == 0 else {
            let reason = Self.reason()
            unlink(draft)
            throw CommandFailure("\(path) cannot be replaced: \(reason).")
        }
        try synchronizeDirectory()
    }

    /// Removes the file durably.
    ///
    /// - Throws: ``CommandFailure``.
    func remove() throws(CommandFailure) {
        guard unlink(path) == 0 else { throw CommandFailure("\(path) cannot be removed: \(Self.reason()).") }
        try synchronizeDirectory()
    }

    /// The time of its last change; `nil` if there is no file.
    var changedAt: Date? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(status.st_mtim.tv_sec))
    }

    /// Makes the file's name durable, by synchronizing its directory.
    ///
    /// - Throws: ``CommandFailure``.
    func synchronizeDirectory() throws(CommandFailure) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw CommandFailure("\(directory) cannot be synchronized: \(Self.reason()).")
        }
    }

    /// Removes the drafts of processes that died while they wrote this file. The caller must be the only writer.
    func removeDrafts() {
        let name = String(path.split(separator: "/").last ?? "")
        for left in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        where left.hasPrefix(name + ".") && left.hasSuffix(Self.draftSuffix) {
            unlink(directory + "/" + left)
        }
    }

    private static let draftSuffix = ".new"

    private var directory: String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// Writes the content durably to a file with a random name beside this one, and returns its path.
    private func writeDraft(_ content: String) throws(CommandFailure) -> String {
        let draft = path + ".\(UInt64.random(in: 1...UInt64.max))" + Self.draftSuffix
        let mode: mode_t = isPrivate ? 0o600 : 0o644
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw CommandFailure("\(path) cannot be created: \(Self.reason()).") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: Data(content.utf8))
            try handle.synchronize()
        } catch {
            unlink(draft)
            throw CommandFailure("\(path) cannot be written.")
        }
        // The umask reduces the mode of `open`.
        guard fchmod(descriptor, mode) == 0 else {
            unlink(draft)
            throw CommandFailure("\(path) cannot be created: \(Self.reason()).")
        }
        return draft
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
