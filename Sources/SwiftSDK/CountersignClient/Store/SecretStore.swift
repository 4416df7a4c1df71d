import Foundation

/// Stores one secret: certificate and session of the device. A write replaces it completely or not at all.
public protocol SecretStore: Sendable {
    /// The last written secret; `nil` if there is none.
    func read() throws(StorageFailure) -> Data?
    /// Replaces the secret. After a crash either the old or the new secret exists.
    func write(_ secret: Data) throws(StorageFailure)
    func remove() throws(StorageFailure)
}
