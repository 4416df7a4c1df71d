import Crypto
import Foundation

/// A secret sealed under a key in the app's container (AES-256-GCM). A keychain outlives its app, the container does
/// not. The secret of a deleted app can thus not be opened.
enum SealedSecret {
    /// - Parameter keyFile: created if it does not exist.
    static func seal(_ secret: Data, keyFile: URL) throws(StorageFailure) -> Data {
        let key: SymmetricKey
        if let found = try readKey(keyFile) {
            key = found
        } else {
            key = SymmetricKey(size: .bits256)
            try AtomicFile.write(key.withUnsafeBytes { Data($0) }, to: keyFile)
        }
        guard let sealed = try? AES.GCM.seal(secret, using: key).combined else { throw .damaged }
        return sealed
    }

    /// The secret; `nil` if its key was deleted, or belongs to another app.
    static func open(_ sealed: Data, keyFile: URL) throws(StorageFailure) -> Data? {
        guard let key = try readKey(keyFile), let box = try? AES.GCM.SealedBox(combined: sealed) else { return nil }
        return try? AES.GCM.open(box, using: key)
    }

    private static func readKey(_ file: URL) throws(StorageFailure) -> SymmetricKey? {
        guard let bytes = try AtomicFile.read(file) else { return nil }
        guard bytes.count == 32 else { throw .damaged }
        return SymmetricKey(data: bytes)
    }
}
