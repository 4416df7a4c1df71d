import Crypto
import Domain
import Foundation

/// The keys of the tokens in forms. All nodes of a service have the same, so a form of one can be sent to another.
package struct FormKeys: Sendable {
    let current: SymmetricKey
    /// Those of the next and the former secret during a rotation, which only verify.
    let others: [SymmetricKey]

    /// Derives the keys (HKDF, RFC 5869) from the secret in `Keys/nonce.key` and the store's generation of nonces.
    ///
    /// - Parameter others: the secrets whose tokens are accepted too.
    package init(_ secret: Secret<[UInt8]>, others: [Secret<[UInt8]>] = [], generation: String) {
        current = Self.derive(secret, generation)
        self.others = others.map { Self.derive($0, generation) }
    }

    private static func derive(_ secret: Secret<[UInt8]>, _ generation: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret.reveal()), salt: Data(generation.utf8),
            info: Data("countersign console form".utf8), outputByteCount: 32)
    }
}
