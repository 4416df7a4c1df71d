import Foundation

/// Stores the secret in one file, mode 0600.
public struct FileStore: SecretStore {
    private let file: URL

    /// Uses a file. Its directory is created at the first write.
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
        /// The program's directory for the current user.
        static var home: URL {
            // A relative path must be ignored (XDG Base Directory Specification).
            let data = ProcessInfo.processInfo.environment["XDG_DATA_HOME"].flatMap {
                $0.hasPrefix("/") ? URL(filePath: $0) : nil
            }
            let base = data ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share")
            return base.appending(path: ProcessInfo.processInfo.processName).appending(path: "countersign")
        }
    }

    extension SecretStore where Self == FileStore {
        /// A file in the program's directory of the user: `~/.local/share/<program>/countersign/secret.json`. A program
        /// that uses several services needs a file for each.
        public static var platform: FileStore { FileStore(file: AtomicFile.home.appending(path: "secret.json")) }
    }
#endif
