import Crypto
import Domain
import Encoding

/// Puts the disclosed claims of an SD-JWT into its payload (RFC 9901 §7.1).
struct Disclosures {
    /// An SD-JWT with more disclosures is refused.
    static let maximumCount = 64
    /// Claims that are nested more deeply are refused.
    private static let maximumDepth = 16

    private struct Disclosure {
        /// `nil` for an element of an array.
        let name: String?
        let value: JSONValue
    }

    private var disclosures: [[UInt8]: Disclosure] = [:]
    private var digests: Set<[UInt8]> = []
    /// Where the disclosed claims are. An element of an array has the path of the array.
    private(set) var paths: [[String]] = []

    /// Parses disclosures, each base64url of an array.
    init(_ texts: [Substring]) throws(PresentationDefect) {
        guard texts.count <= Self.maximumCount else {
            throw PresentationDefect(.malformed, "There are more than \(Self.maximumCount) disclosures.")
        }
        for text in texts {
            guard let bytes = Base64URL.decode(text.utf8), case .array(let parts)? = try? StrictJSON.parse(bytes),
                parts.count == 2 || parts.count == 3, parts[0].text != nil, let value = parts.last
            else {
                throw PresentationDefect(.malformed, "A disclosure is not base64url of an array of salt, name, value.")
            }
            let name = parts.count == 3 ? parts[1].text : nil
            guard parts.count == 2 || name.map({ $0 != "_sd" && $0 != "..." }) ?? false else {
                throw PresentationDefect(.malformed, "A disclosure has a name that is not a claim's.")
            }
            let digest = Array(Digest256.of(String(text)).base64URL.utf8)
            guard disclosures.updateValue(Disclosure(name: name, value: value), forKey: digest) == nil else {
                throw PresentationDefect(.digest, "A disclosure occurs twice.")
            }
        }
    }

    /// The payload's claims with those that are disclosed.
    ///
    /// - Throws: `digest` if a digest occurs twice, or a disclosure is not among the digests.
    mutating func claims(of payload: [JSONMember]) throws(PresentationDefect) -> [JSONMember] {
        let claims = try object(payload.filter { $0.name != "_sd_alg" }, at: [])
        guard disclosures.keys.allSatisfy(digests.contains) else {
            throw PresentationDefect(.digest, "The issuer did not sign the digest of a disclosure.")
        }
        return claims
    }

    private mutating func value(_ value: JSONValue, at path: [String]) throws(PresentationDefect) -> JSONValue {
        guard path.count <= Self.maximumDepth else {
            throw PresentationDefect(.malformed, "The claims are nested too deeply.")
        }
        switch value {
        case .object(let members): return .object(try object(members, at: path))
        case .array(let elements): return .array(try array(elements, at: path))
        default: return value
        }
    }

    private mutating func object(
        _ members: [JSONMember], at path: [String]
    ) throws(PresentationDefect) -> [JSONMember] {
        var claims: [JSONMember] = []
        func append(_ name: String, _ value: JSONValue) throws(PresentationDefect) {
            guard !claims.contains(where: { $0.name.hasSameBytes(as: name) }) else {
                throw PresentationDefect(.malformed, "A claim occurs twice.")
            }
            claims.append(JSONMember(name: name, value: value))
        }
        for member in members where member.name != "_sd" {
            try append(member.name, try value(member.value, at: path + [member.name]))
        }
        guard let list = members.first(where: { $0.name == "_sd" }) else { return claims }
        guard case .array(let elements) = list.value else {
            throw PresentationDefect(.malformed, "A member _sd is not an array of digests.")
        }
        for element in elements {
            guard let disclosure = try disclosure(element.text) else { continue }
            guard let name = disclosure.name else {
                throw PresentationDefect(.malformed, "A disclosure of a claim has no name.")
            }
            paths.append(path + [name])
            try append(name, try value(disclosure.value, at: path + [name]))
        }
        return claims
    }

    private mutating func array(_ elements: [JSONValue], at path: [String]) throws(PresentationDefect) -> [JSONValue] {
        var values: [JSONValue] = []
        for element in elements {
            guard case .object(let members) = element, members.count == 1, let member = members.first,
                member.name == "..."
            else {
                values.append(try value(element, at: path + [""]))
                continue
            }
            guard let disclosure = try disclosure(member.value.text) else { continue }
            guard disclosure.name == nil else {
                throw PresentationDefect(.malformed, "A disclosure of an array's element has a name.")
            }
            paths.append(path)
            values.append(try value(disclosure.value, at: path + [""]))
        }
        return values
    }

    /// The disclosure with a digest; `nil` if the holder does not disclose it, or if it is a decoy.
    private mutating func disclosure(_ digest: String?) throws(PresentationDefect) -> Disclosure? {
        guard let digest = digest.map({ Array($0.utf8) }) else {
            throw PresentationDefect(.malformed, "A digest is not a string.")
        }
        guard digests.insert(digest).inserted else {
            throw PresentationDefect(.digest, "A digest occurs twice in the credential.")
        }
        return disclosures[digest]
    }
}
