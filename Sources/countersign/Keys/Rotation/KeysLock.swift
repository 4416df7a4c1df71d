import Foundation
import Glibc

/// The right to change the keys of a directory, for one process at a time.
final class KeysLock: Sendable {
    /// Released with this object or at the process's end.
    private let descriptor: Int32

    /// - Throws: ``CommandFailure`` if another process changes the keys, or there is no directory.
    init(directory: String) throws(CommandFailure) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw KeyFiles.missing(KeyFiles.path(.wrappingSecrets, directory)) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw CommandFailure("Another command changes the keys in \(directory): run this again when it is done.")
        }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}
