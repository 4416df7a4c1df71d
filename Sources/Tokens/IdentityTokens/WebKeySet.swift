import Domain
import Encoding

/// The keys of an OpenID provider (RFC 7517 §5), as far as they can verify its ID tokens.
package struct WebKeySet: Sendable, Equatable {
    /// A key with the name by which ID tokens refer to it.
    package struct Member: Sendable, Equatable {
        /// `kid`, 1 to 256 bytes.
        package let keyID: String
        package let key: VerificationKey
    }

    /// In the order of the set. Keys of another use or type, weak ones, and those without `kid` are left out.
    package let members: [Member]

    /// A set with more keys is refused.
    package static let maximumCount = 64

    /// Reads a set.
    ///
    /// - Parameter algorithms: those that may be used, the preferred first. A key without `alg` gets the first that fits.
    /// - Throws: ``TokenDefect`` for anything that is no such set, or if one `kid` names two keys of one algorithm.
    package init(_ bytes: [UInt8], allowing algorithms: [SignatureAlgorithm]) throws(TokenDefect) {
        guard let document = try? StrictJSON.parse(bytes), case .array(let keys)? = document["keys"] else {
            throw TokenDefect(.malformed, "The key set is no JSON object with keys.")
        }
        var members: [Member] = []
        for member in keys.compactMap({ Self.member($0, algorithms) }) where !members.contains(member) {
            let isTaken = members.contains {
                $0.keyID.utf8.elementsEqual(member.keyID.utf8) && $0.key.algorithm == member.key.algorithm
            }
            guard !isTaken else { throw TokenDefect(.malformed, "In the key set one kid names two keys.") }
            members.append(member)
        }
        guard members.count <= Self.maximumCount else {
            throw TokenDefect(.malformed, "The key set has more than \(Self.maximumCount) keys.")
        }
        self.members = members
    }

    private static func member(_ json: JSONValue, _ algorithms: [SignatureAlgorithm]) -> Member? {
        guard let keyID = json["kid"]?.text, (1...256).contains(keyID.utf8.count),
            PlainText.isPlain(keyID, for: .identifier)
        else { return nil }
        do throws(PublicKeyDefect) {
            // One with a private part is a defect too: what was published is known to everybody.
            let key = try PublicKey(JSONWebKey.numbers(of: json))
            let named = try JSONWebKey.algorithm(of: json)
            let fitting = algorithms.first { key.algorithms.contains($0) && (named == nil || named == $0) }
            guard let fitting else { return nil }
            return Member(keyID: keyID, key: try VerificationKey(key, algorithm: fitting))
        } catch {
            return nil
        }
    }
}
