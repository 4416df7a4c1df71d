import Crypto
import CryptoExtras
import Foundation

/// The client's side of a verifiable oblivious pseudorandom function: RFC 9497 §3.3.2, P384-SHA384. The library's own type may
/// change without notice, so nobody else names it (Upstream.md).
struct BlindedQuestion: Sendable {
    private let publicKey: Data

    /// - Throws: for what is no compressed point of P-384.
    init(publicKey: Data) throws {
        _ = try P384._VOPRF.PublicKey(compressedRepresentation: publicKey)
        self.publicKey = publicKey
    }

    /// What was answered in another number.
    struct WrongCount: Error {}

    /// Some inputs under way.
    struct Batch {
        fileprivate let key: P384._VOPRF.PublicKey
        fileprivate let inputs: [P384._VOPRF.BlindedInput]

        /// What the service evaluates.
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

    /// Blinds inputs, each with a random scalar of its own.
    func blind(_ inputs: [String]) throws -> Batch {
        let key = try P384._VOPRF.PublicKey(compressedRepresentation: publicKey)
        return Batch(key: key, inputs: try inputs.map { try key.blind(Data($0.utf8)) })
    }
}
