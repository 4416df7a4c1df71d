import Foundation

/// Keeps one secret: certificate and session of the device. A write replaces it whole or not at all.
public protocol SecretStore: Sendable {
    /// What was written last; `nil` if there is nothing.
    func read() throws(StorageFailure) -> Data?
    /// Replaces what is kept. After a crash either the old or the new secret is there.
    func write(_ secret: Data) throws(StorageFailure)
    /// Removes it.
    func remove() throws(StorageFailure)
}
