import Foundation

/// Keeps the device's private keys, P-256, and signs with them. No call gives a private key out.
public protocol DeviceKeys: Sendable {
    /// Makes a key and keeps it under a name.
    ///
    /// - Returns: its public point, 65 bytes (SEC 1 §2.3.3).
    func make(_ name: String) async throws(StorageFailure) -> Data

    /// The public point of a key; `nil` if there is none of this name.
    func publicPoint(_ name: String) async throws(StorageFailure) -> Data?

    /// Signs a message with ECDSA and SHA-256.
    ///
    /// - Returns: the signature in DER (RFC 3279 §2.2.3).
    func sign(_ message: Data, with name: String) async throws(StorageFailure) -> Data

    /// Removes every key but the named ones.
    func removeAll(except names: Set<String>) async throws(StorageFailure)
}
