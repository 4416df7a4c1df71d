import Crypto
import Foundation

/// A key that signs only after the device has recognized its user, for a service that requires presence proofs.
///
/// The device registers the key when it is certified, and each start of a phone verification carries a proof. A device
/// that was certified without it has no such key.
public struct Presence: Sendable {
    let keys: any DeviceKeys
    let method: String

    /// - Parameters:
    ///   - keys: stores the key. Its `sign` asks the user, and throws ``StorageFailure/notPresent`` if the user is not
    ///   recognized, as `SecureEnclaveKeys` with required presence does.
    ///   - method: how the device recognizes its user, such as `touch_id`; 1 to 64 bytes. The service stores only this.
    public init(keys: any DeviceKeys, method: String) {
        self.keys = keys
        self.method = method
    }

    /// Creates a key.
    ///
    /// - Returns: its name.
    func make() async throws(Refusal) -> String {
        let name = UUID().path
        do throws(StorageFailure) { _ = try await keys.make(name) } catch { throw .storage(error) }
        return name
    }

    /// The public key as PEM (RFC 7468 §13), for registration.
    func publicKey(_ name: String) async throws(Refusal) -> String {
        let point: Data?
        do throws(StorageFailure) { point = try await keys.publicPoint(name) } catch { throw .storage(error) }
        guard let point, let key = try? P256.Signing.PublicKey(x963Representation: point) else {
            throw .storage(.damaged)
        }
        return key.pemRepresentation
    }

    /// Asks the user, and signs.
    ///
    /// - Parameter number: E.164. Spaces and other marks between the digits are ignored.
    func proof(
        of number: String, nonce: Nonce, keyName: String, at time: Date
    ) async throws(Refusal) -> String {
        try await DeviceToken(keys: keys, keyName: keyName)
            .presenceProof(nonce: nonce.value, method: method, number: number, at: time)
    }
}
