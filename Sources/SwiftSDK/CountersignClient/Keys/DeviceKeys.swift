import Foundation

/// Stores the device's private P-256 keys and signs with them. No call returns a private key.
public protocol DeviceKeys: Sendable {
    /// Creates a key under a name.
    ///
    /// - Returns: its public point, 65 bytes (SEC 1 §2.3.3).
    func make(_ name: String) async throws(StorageFailure) -> Data

    /// The public point of a key; `nil` if it does not exist.
    func publicPoint(_ name: String) async throws(StorageFailure) -> Data?

    /// Signs a message with ECDSA and SHA-256.
    ///
    /// - Returns: the signature in DER (RFC 3279 §2.2.3).
    func sign(_ message: Data, with name: String) async throws(StorageFailure) -> Data

    /// Deletes every key except the named ones.
    func removeAll(except names: Set<String>) async throws(StorageFailure)
}
