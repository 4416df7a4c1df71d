import Crypto
import CryptoExtras
import Foundation

/// The client's side of a verifiable oblivious pseudorandom function: RFC 9497 §3.3.2, P384-SHA384. It is the only file
/// that names the library's type, which may change without notice (Upstream.md).
struct BlindedQuestion: Sendable {
    private let publicKey: Data

    /// - Throws: if the key is not a compressed point of P-384.
    init(publicKey: Data) throws {
        _ = try P384._VOPRF.PublicKey(compressedRepresentation: publicKey)
        self.publicKey = publicKey
    }

    /// The number of evaluations differs from the number of inputs.
    struct WrongCount: Error {}

    struct Batch {
        fileprivate let key: P384._VOPRF.PublicKey
        fileprivate let inputs: [P384._VOPRF.BlindedInput]

        /// The elements that the service evaluates.
        var elements: [Data] { inputs.map(\.blindedElement.oprfRepresentation) }

        /// The outputs.
        ///
        /// - Throws: if a proof does not verify.
        func finalize(_ evaluations: [Data]) throws -> [Data] {
            guard evaluations.count == inputs.count else { throw WrongCount() }
            return try zip(inputs, evaluations).map { input, bytes in
                try key.finalize(input, using: P384._VOPRF.BlindEvaluation(rawRepresentation: bytes))
            }
        }
    }

    /// Blinds inputs, each with a separate random scalar.
    func blind(_ inputs: [String]) throws -> Batch {
        let key = try P384._VOPRF.PublicKey(compressedRepresentation: publicKey)
        return Batch(key: key, inputs: try inputs.map { try key.blind(Data($0.utf8)) })
    }
}
