import Encoding
import Foundation

/// The ages that a user's wallet proved: a bit for each, and nothing about the credential.
package struct AgeProof: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    static let over18 = AgeProof(rawValue: 1)
    static let over21 = AgeProof(rawValue: 2)
}

package extension AgeProof {
    /// The form that is encrypted.
    var text: String { String(rawValue) }

    /// Parses ``text``; `nil` for anything else.
    init?(text: String) {
        guard let value = UInt8(text), value > 0, value <= 3 else { return nil }
        self.init(rawValue: value)
    }

    /// The ages that are proved, by the names that tokens have.
    var claims: JSONValue {
        .object([
            "age_over_18": proves(18) ? .bool(true) : nil, "age_over_21": proves(21) ? .bool(true) : nil,
        ])
    }

    /// Whether the user is proved to be at least this old. Nobody is proved to be younger.
    func proves(_ age: Int) -> Bool {
        (contains(.over21) && age <= 21) || (contains(.over18) && age <= 18)
    }
}

/// What a user's wallet proved, and when.
package struct ProvenAges: Sendable, Equatable, Confidential {
    package let proof: AgeProof
    package let provenAt: Date

    package init(_ proof: AgeProof, at time: Date) {
        self.proof = proof
        provenAt = time
    }
}
