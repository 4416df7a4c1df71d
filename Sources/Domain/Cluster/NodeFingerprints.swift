import Crypto
import Encoding
import Foundation

/// What the nodes of one service must have in common, as digests that reveal nothing of a secret.
package struct NodeFingerprints: Sendable, Equatable {
    /// A thing that nodes share: a file of `Keys/`, or the realm.
    package enum Item: String, Sendable, CaseIterable {
        /// Nonces and export tokens, with the store's generation of them.
        case nonceKey = "nonce.key"
        /// The codes in texts, by version.
        case phoneCodeKeys = "phone-code.key"
        /// What data keys lie under, by version.
        case wrappingKeys = "wrapping.key"
        /// What numbers and documents are found again by, by version.
        case blindIndexKeys = "blind-index.key"
        /// The internal authority's certificates; its key belongs to the first.
        case authority = "ca.pem"
        /// The listeners' key, 1, and the one that follows it, 2.
        case serverKeys = "server.key"
        /// What signs events and the audit log's checkpoints.
        case serviceKey = "service.key"
        /// The name in challenges, and the audience of tokens.
        case realm

        /// How much of it must agree.
        var rule: Rule {
            switch self {
            case .nonceKey, .authority, .serviceKey, .realm: .same
            case .phoneCodeKeys, .wrappingKeys: .sharedVersions
            case .blindIndexKeys: .sharedVersionsAndNewest
            case .serverKeys: .overlapping
            }
        }
    }

    /// How much of a thing two nodes must have in common.
    enum Rule {
        case same
        /// At least one version, and every version that both have. A node that meets a row of a version which it does
        /// not have reads its files again, so that one of the two may be ahead.
        case sharedVersions
        /// The same, and the newest: nobody meets the version of what is looked up by its digest.
        case sharedVersionsAndNewest
        /// One key: during a rotation the next one of some is the present one of others.
        case overlapping

        func holds(_ own: [Int: Digest256], _ other: [Int: Digest256]) -> Bool {
            let common = Set(own.keys).intersection(other.keys)
            let agrees = !common.isEmpty && common.allSatisfy { own[$0] == other[$0] }
            return switch self {
            case .same: own == other
            case .sharedVersions: agrees
            case .sharedVersionsAndNewest: agrees && own.keys.max() == other.keys.max()
            case .overlapping: !Set(own.values).isDisjoint(with: other.values)
            }
        }
    }

    /// The digests of each thing by version; version 1 of what has none.
    package var items: [Item: [Int: Digest256]]
    /// The digest of each file of policies, by its name.
    package var policies: [String: Digest256]

    package init(items: [Item: [Int: Digest256]], policies: [String: Digest256]) {
        self.items = items
        self.policies = policies
    }

    /// The digest of a secret key: HMAC-SHA-256 (RFC 2104) under it, over a text that says what it is. The key has at
    /// least 256 bits, so that nothing can be tried on the digest.
    package static func digest(of key: SymmetricKey, _ item: Item, version: Int = 1) -> Digest256 {
        let label = "countersign node fingerprint\0\(item.rawValue)\0\(version)"
        let bytes = Array(HMAC<SHA256>.authenticationCode(for: Data(label.utf8), using: key))
        return Digest256(bytes) ?? Digest256.of(bytes)
    }

    /// What two nodes do not agree on. What only one of them knows of, since the other runs another version of the
    /// program, is not compared.
    func differences(from other: NodeFingerprints) -> [NodeDifference] {
        Item.allCases.filter { item in
            guard let own = items[item], let theirs = other.items[item] else { return false }
            return !item.rule.holds(own, theirs)
        }.map(NodeDifference.shared) + differingPolicies(from: other).map(NodeDifference.policy)
    }

    /// The files of policies that say something else on another node, sorted.
    package func differingPolicies(from other: NodeFingerprints) -> [String] {
        policies.keys.filter { other.policies[$0] != nil && other.policies[$0] != policies[$0] }.sorted()
    }

    /// Whether another node has a newer version of some key: then this one's files may have it, too.
    package func isBehind(_ other: NodeFingerprints) -> Bool {
        [Item.phoneCodeKeys, .wrappingKeys, .blindIndexKeys].contains { item in
            guard let own = items[item]?.keys.max(), let theirs = other.items[item]?.keys.max() else { return false }
            return own < theirs
        }
    }
}

extension NodeFingerprints {
    /// What cannot be the same file as another node's, whichever of the two is the newer one: a version is in both and is
    /// another key.
    package func contradictions(to other: NodeFingerprints) -> [Item] {
        Item.allCases.filter { item in
            guard let own = items[item], let theirs = other.items[item] else { return false }
            return own.contains { theirs[$0.key] ?? $0.value != $0.value }
        }
    }

    /// Whether a version may be added to a file beside another node: two files that each got one of their own under one
    /// number could not be brought together again.
    package func mayAddVersion(of item: Item, beside other: NodeFingerprints) -> Bool {
        guard let own = items[item], let theirs = other.items[item] else { return true }
        return own.allSatisfy { theirs[$0.key] ?? $0.value == $0.value }
            && own.keys.max() ?? 0 >= theirs.keys.max() ?? 0
    }
}

/// One thing that two nodes do not agree on.
package enum NodeDifference: Sendable, Hashable {
    /// A file of `Keys/`, or the realm.
    case shared(NodeFingerprints.Item)
    /// A file of policies, by its name.
    case policy(String)
}

extension NodeFingerprints {
    /// The form in which the store keeps them: `{"keys": {FILE: {VERSION: DIGEST}}, "policies": {FILE: DIGEST}}`.
    package var json: JSONValue {
        let keys = items.sorted { $0.key.rawValue < $1.key.rawValue }.map { item, digests in
            JSONMember(
                name: item.rawValue,
                value: .object(
                    digests.sorted { $0.key < $1.key }.map {
                        JSONMember(name: String($0.key), value: .string($0.value.base64URL))
                    }))
        }
        let policies = policies.sorted { $0.key < $1.key }.map {
            JSONMember(name: $0.key, value: .string($0.value.base64URL))
        }
        return .object(["keys": .object(keys), "policies": .object(policies)])
    }

    /// Reads that form; what this version of the program does not know is left out.
    package init(json: JSONValue) {
        func members(_ value: JSONValue?) -> [JSONMember] {
            guard case .object(let members)? = value else { return [] }
            return members
        }
        func digest(_ value: JSONValue) -> Digest256? {
            value.text.flatMap { Base64URL.decode($0) }.flatMap { Digest256($0) }
        }
        items = [:]
        for member in members(json["keys"]) {
            guard let item = Item(rawValue: member.name) else { continue }
            for version in members(member.value) {
                guard let number = Int(version.name), let digest = digest(version.value) else { continue }
                items[item, default: [:]][number] = digest
            }
        }
        policies = [:]
        for member in members(json["policies"]) { policies[member.name] = digest(member.value) }
    }
}
