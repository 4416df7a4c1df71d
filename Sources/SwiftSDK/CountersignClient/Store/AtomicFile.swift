import Foundation

/// Files of one user, mode 0600, in directories of mode 0700. A file is replaced by a rename, so after a crash either
/// the old or the new file exists completely.
enum AtomicFile {
    /// The maximum size in bytes. A longer file was not written by this library.
    static let maximumLength = 1 << 20

    /// The content; `nil` if there is no such file.
    static func read(_ file: URL) throws(StorageFailure) -> Data? {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw StorageFailure(errno: errno)
        }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Foundation.read(descriptor, &part, part.count)
            if count == 0 { return Data(content) }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw StorageFailure(errno: errno)
            }
            content += part.prefix(count)
            guard content.count <= maximumLength else { throw .damaged }
        }
    }

    /// Writes a draft durably, and renames it.
    static func write(_ data: Data, to file: URL) throws(StorageFailure) {
        let folder = file.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Self.failure(error)
        }
        let draft = folder.appending(path: "\(draftPrefix(of: file))\(UUID().uuidString)")
        do throws(StorageFailure) {
            try fill(draft, with: data)
            guard rename(draft.path, file.path) == 0 else { throw StorageFailure(errno: errno) }
        } catch {
            unlink(draft.path)
            throw error
        }
        try sync(folder)
    }

    /// Deletes a file, if it exists.
    static func remove(_ file: URL) throws(StorageFailure) {
        guard unlink(file.path) == 0 || errno == ENOENT else { throw StorageFailure(errno: errno) }
    }

    /// The names in a directory; empty if it does not exist.
    static func names(in folder: URL) throws(StorageFailure) -> [String] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            throw Self.failure(error)
        }
    }

    /// Deletes drafts that remained after crashes. A recent draft may belong to another process that is writing.
    static func removeDrafts(of file: URL) {
        let folder = file.deletingLastPathComponent()
        for name in (try? names(in: folder)) ?? [] where name.hasPrefix(draftPrefix(of: file)) {
            var facts = stat()
            let path = folder.appending(path: name).path
            guard stat(path, &facts) == 0 else { continue }
            let changed = TimeInterval(facts.changedAt)
            if Date().timeIntervalSince1970 - changed > 60 { unlink(path) }
        }
    }

    private static func draftPrefix(of file: URL) -> String { ".\(file.lastPathComponent).draft-" }

    private static func fill(_ draft: URL, with data: Data) throws(StorageFailure) {
        let descriptor = open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StorageFailure(errno: errno) }
        defer { close(descriptor) }
        var rest = Array(data)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw StorageFailure(errno: errno) }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw StorageFailure(errno: errno) }
    }

    /// Makes the rename durable too.
    private static func sync(_ folder: URL) throws(StorageFailure) {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StorageFailure(errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw StorageFailure(errno: errno) }
    }

    private static func failure(_ error: any Error) -> StorageFailure {
        switch (error as? CocoaError)?.code {
        case .fileWriteOutOfSpace: .full
        case .fileWriteNoPermission, .fileReadNoPermission, .fileWriteVolumeReadOnly: .notPermitted
        default: .failed(code: (error as? POSIXError)?.code.rawValue ?? EIO)
        }
    }
}

extension stat {
    fileprivate var changedAt: Int {
        #if canImport(Darwin)
            st_mtimespec.tv_sec
        #else
            st_mtim.tv_sec
        #endif
    }
}
