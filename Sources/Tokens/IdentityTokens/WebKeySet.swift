import Domain
import Encoding

/// The keys of an OpenID provider (RFC 7517 §5), as far as they can verify its ID tokens.
package struct WebKeySet: Sendable, Equatable {
    /// A key with the name by which ID tokens refer to it.
    package struct Member: Sendable, Equatable {
        /// `kid`, 1 to 256 bytes; `nil` if it has none and is for tokens without one.
        package let keyID: String?
        package let key: VerificationKey
    }

    /// In the order of the set. Keys that cannot verify anything are omitted (RFC 7517 §5): keys of another use or
    /// type, and weak ones. Keys of one algorithm with the same `kid`, or both without one, are omitted too, since a
    /// token could mean either.
    package let members: [Member]

    /// A set with more keys is refused.
    static let maximumCount = 64

    /// Parses a set.
    ///
    /// - Parameter algorithms: the allowed ones, the preferred first. A key without `alg` gets the first that fits.
    /// - Throws: ``TokenDefect`` if it is not such a set.
    package init(_ bytes: [UInt8], allowing algorithms: [SignatureAlgorithm]) throws(TokenDefect) {
        guard let document = try? JSONOutline(bytes), let keys = document.readableElements(of: "keys") else {
            throw TokenDefect(.malformed, "The key set is not a JSON object with keys.")
        }
        guard keys.count <= StrictJSON.maximumCount else {
            throw TokenDefect(.malformed, "The key set has more than \(StrictJSON.maximumCount) elements.")
        }
        var members: [Member] = []
        for key in keys {
            guard let member = Self.member(key, algorithms), !members.contains(member) else { continue }
            members.append(member)
            guard members.count <= Self.maximumCount else {
                throw TokenDefect(.malformed, "The key set has more than \(Self.maximumCount) keys.")
            }
        }
        self.members = members.filter { member in members.filter { $0.isTaken(for: member) }.count == 1 }
    }

    private static func member(_ json: JSONValue, _ algorithms: [SignatureAlgorithm]) -> Member? {
        let keyID = json["kid"]?.text
        guard json["kid"] == nil || keyID != nil, (1...256).contains(keyID?.utf8.count ?? 1),
            PlainText.isPlain(keyID ?? "", for: .identifier)
        else { return nil }
        do throws(PublicKeyDefect) {
            // A key with a private part is a defect too: once published, it is known to everybody.
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

extension WebKeySet.Member {
    /// Whether a token that names another key may mean this one.
    fileprivate func isTaken(for other: Self) -> Bool {
        key.algorithm == other.key.algorithm && Array((keyID ?? "").utf8) == Array((other.keyID ?? "").utf8)
    }
}
