import Domain
import Foundation

/// The file of the wrapping keys, changed as a whole and by one process at a time.
final class WrappingKeyFile: Sendable {
    private let directory: String
    private let lock: KeysLock

    /// Locks the file, and deletes the drafts of a process that died while it wrote.
    ///
    /// - Throws: ``CommandFailure`` if another process has the lock.
    init(directory: String) throws(CommandFailure) {
        self.directory = directory
        lock = try KeysLock(directory: directory)
        KeyFiles.file(.wrappingSecrets, in: directory).removeDrafts()
    }

    /// Adds a version, one above the highest, with 32 random bytes.
    func add(_ randomBytes: [UInt8]) throws(CommandFailure) {
        var lines = try secrets().map { ($0.key, $0.value.reveal()) }
        lines.append(((lines.map(\.0).max() ?? 0) + 1, randomBytes))
        try write(lines)
    }

    func versions() throws(CommandFailure) -> Set<Int> { Set(try secrets().keys) }

    /// Removes versions from the file, which cannot be undone.
    func remove(_ versions: Set<Int>) throws(CommandFailure) {
        try write(try secrets().filter { !versions.contains($0.key) }.map { ($0.key, $0.value.reveal()) })
    }

    private func secrets() throws(CommandFailure) -> [Int: Secret<[UInt8]>] {
        try KeyFiles.secrets(.wrappingSecrets, in: directory)
    }

    private func write(_ lines: [(version: Int, bytes: [UInt8])]) throws(CommandFailure) {
        let text = lines.sorted { $0.version < $1.version }.map { KeyFiles.line(version: $0.version, $0.bytes) }
        try KeyFiles.file(.wrappingSecrets, in: directory).replace(text.joined())
    }
}
