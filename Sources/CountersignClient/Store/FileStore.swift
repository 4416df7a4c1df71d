import Foundation

/// Keeps the secret in one file, mode 0600.
public struct FileStore: SecretStore {
    private let file: URL

    /// Uses a file, whose directory is made at the first write.
    public init(file: URL) { self.file = file }

    public func read() throws(StorageFailure) -> Data? {
        AtomicFile.removeDrafts(of: file)
        return try AtomicFile.read(file)
    }

    public func write(_ secret: Data) throws(StorageFailure) { try AtomicFile.write(secret, to: file) }

    public func remove() throws(StorageFailure) { try AtomicFile.remove(file) }
}

#if !canImport(Security)
    extension AtomicFile {
        /// The directory of this program among those of its user.
        static var home: URL {
            // A path that is not absolute is to be ignored (XDG Base Directory Specification).
            let data = ProcessInfo.processInfo.environment["XDG_DATA_HOME"].flatMap {
                $0.hasPrefix("/") ? URL(filePath: $0) : nil
            }
            let base = data ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share")
            return base.appending(path: ProcessInfo.processInfo.processName).appending(path: "countersign")
        }
    }

    extension SecretStore where Self == FileStore {
        /// A file beside those of the program's user: `~/.local/share/<program>/countersign/secret.json`. A program that
        /// uses several services has a file for each.
        public static var platform: FileStore { FileStore(file: AtomicFile.home.appending(path: "secret.json")) }
    }
#endif
