import Crypto
import CryptoExtras
import Foundation

/// The service's side of a verifiable oblivious pseudorandom function: RFC 9497 §3.3.2, P384-SHA384.
///
/// The client blinds its input, so the service does not learn it. Each evaluation comes with a proof that this key made
/// it. The library's own type may change without notice, so only this file uses it (Upstream.md).
public struct ObliviousKey: Sendable {
    private let scalar: Secret

    /// Takes a scalar, 48 bytes big-endian.
    ///
    /// - Throws: a `CryptoKitError` for 0 and for values that are not below the group's order.
    public init(scalar: [UInt8]) throws {
        _ = try P384._VOPRF.PrivateKey(rawRepresentation: scalar)
        self.scalar = Secret(bytes: scalar)
    }
}

public extension ObliviousKey {
    /// Bytes of a blinded or an evaluated element: a compressed point.
    static let elementLength = 49
    /// Bytes of an evaluation: the evaluated element, then the proof's two scalars.
    static let evaluationLength = elementLength + 96

    /// A text is not an element of the group.
    struct NoElement: Error, Sendable {}

    /// Hides the scalar from descriptions and mirrors.
    private struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
        let bytes: [UInt8]
        var description: String { "••••" }
        var customMirror: Mirror { Mirror(self, children: [:]) }
    }

    /// Derives the scalar from a secret by HKDF-SHA-384 (RFC 5869).
    ///
    /// - Throws: a `CryptoKitError` once in 2¹⁹⁴ secrets, whose scalar is not below the group's order.
    init(derivedFrom secret: Digest256) throws {
        let derived = HKDF<SHA384>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret.bytes), info: Data("countersign oblivious key".utf8),
            outputByteCount: 48)
        try self.init(scalar: derived.withUnsafeBytes { Array($0) })
    }

    /// The public key, a compressed point. Clients verify proofs with it.
    var publicKey: [UInt8] {
        get throws { Array(try opened.publicKey.oprfRepresentation) }
    }

    /// Evaluates blinded elements, each with its proof.
    ///
    /// - Throws: ``NoElement``.
    func evaluate(_ blinded: [[UInt8]]) throws -> [[UInt8]] {
        let key = try opened
        return try blinded.map { bytes in
            guard bytes.count == Self.elementLength,
                let element = try? P384._VOPRF.BlindedElement(oprfRepresentation: bytes)
            else { throw NoElement() }
            return Array(try key.evaluate(element).rawRepresentation)
        }
    }

    /// The function's outputs for inputs that the service knows.
    func outputs(of inputs: [String]) throws -> [[UInt8]] {
        let key = try opened
        return try inputs.map { Array(try key.evaluate(Data($0.utf8))) }
    }

    private var opened: P384._VOPRF.PrivateKey {
        get throws { try P384._VOPRF.PrivateKey(rawRepresentation: scalar.bytes) }
    }
}
