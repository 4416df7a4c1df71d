import Crypto
import Foundation

/// Stores private keys as PEM files, mode 0600, in a separate directory.
public struct FileKeys: DeviceKeys {
    private let directory: URL

    /// Uses a directory, which is created with the first key.
    public init(directory: URL) { self.directory = directory }

    public func make(_ name: String) throws(StorageFailure) -> Data {
        let key = P256.Signing.PrivateKey()
        try AtomicFile.write(Data(key.pemRepresentation.utf8), to: file(name))
        return key.publicKey.x963Representation
    }

    public func publicPoint(_ name: String) throws(StorageFailure) -> Data? {
        try key(name)?.publicKey.x963Representation
    }

    public func sign(_ message: Data, with name: String) throws(StorageFailure) -> Data {
        guard let key = try key(name), let signature = try? key.signature(for: message) else { throw .damaged }
        return signature.derRepresentation
    }

    public func removeAll(except names: Set<String>) throws(StorageFailure) {
        let kept = Set(names.map { file($0).lastPathComponent })
        for name in try AtomicFile.names(in: directory) where name.hasSuffix(".pem") && !kept.contains(name) {
            try AtomicFile.remove(directory.appending(path: name))
        }
    }

    private func key(_ name: String) throws(StorageFailure) -> P256.Signing.PrivateKey? {
        guard let bytes = try AtomicFile.read(file(name)) else { return nil }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: String(decoding: bytes, as: UTF8.self)) else {
            throw .damaged
        }
        return key
    }

    private func file(_ name: String) -> URL { directory.appending(path: "\(name).pem") }
}

#if !canImport(Security)
    extension DeviceKeys where Self == FileKeys {
        /// Files in the program's directory of the user: `~/.local/share/<program>/countersign/keys`.
        public static var platform: FileKeys { FileKeys(directory: AtomicFile.home.appending(path: "keys")) }
    }
#endif
