import Crypto
import Encoding
import Foundation

/// What the nodes of one service must have in common, as digests that reveal no secret.
package struct NodeFingerprints: Sendable, Equatable {
    /// How much of an item two nodes must have in common.
    enum Rule {
        case same
        /// At least one version, and every version that both have. A node that reads an unknown version from a row
        /// reloads its files, so one of the two may be ahead.
        case sharedVersions
        /// As ``sharedVersions``, and both have the same newest version. A row that is found by its digest reveals no
        /// unknown version.
        case sharedVersionsAndNewest
        /// One key: during a rotation the next key of some nodes is the current one of others.
        case overlapping
        /// Each node's current key, 1, is among the other's keys, so each can verify what the other signs.
        case published

        func holds(_ own: [Int: Digest256], _ other: [Int: Digest256]) -> Bool {
            let common = Set(own.keys).intersection(other.keys)
            let agrees = !common.isEmpty && common.allSatisfy { own[$0] == other[$0] }
            return switch self {
            case .same: own == other
            case .sharedVersions: agrees
            case .sharedVersionsAndNewest: agrees && own.keys.max() == other.keys.max()
            case .overlapping: !Set(own.values).isDisjoint(with: other.values)
            case .published: Self.isPublished(own[1], in: other) && Self.isPublished(other[1], in: own)
            }
        }

        private static func isPublished(_ key: Digest256?, in keys: [Int: Digest256]) -> Bool {
            key.map(keys.values.contains) ?? false
        }
    }

    /// The digests of each item by version; version 1 if the item has no versions.
    package var items: [Item: [Int: Digest256]]
    /// The digest of each policy file, by its name.
    var policies: [String: Digest256]

    package init(items: [Item: [Int: Digest256]], policies: [String: Digest256]) {
        self.items = items
        self.policies = policies
    }

    /// The items that two nodes disagree on. An item that only one of them knows, because it runs another version of
    /// the program, is not compared.
    func differences(from other: NodeFingerprints) -> [Difference] {
        Item.allCases.filter { item in
            guard let own = items[item], let theirs = other.items[item] else { return false }
            return !item.rule.holds(own, theirs)
        }.map(Difference.shared) + differingPolicies(from: other).map(Difference.policy)
    }
}

package extension NodeFingerprints {
    /// One item that two nodes disagree on.
    enum Difference: Sendable, Hashable {
        /// A file of `Keys/`, or the realm.
        case shared(NodeFingerprints.Item)
        /// A policy file, by its name.
        case policy(String)
    }

    /// A thing that nodes share: a file of `Keys/`, or the realm.
    enum Item: String, Sendable, CaseIterable {
        /// The keys of nonces and export tokens, with the store's generation of them: the current one, 1, followed by
        /// the others.
        case nonceKey = "nonce.key"
        /// The keys of the codes in texts, by version.
        case phoneCodeKeys = "phone-code.key"
        /// The keys that wrap data keys, by version.
        case wrappingKeys = "wrapping.key"
        /// The keys of the blind indexes of numbers and documents, by version.
        case blindIndexKeys = "blind-index.key"
        /// The certificates of the internal authorities: the current one, 1, followed by those of a rotation.
        case authority = "ca.pem"
        /// The listeners' current key, 1, and the next one, 2.
        case serverKeys = "server.key"
        /// The published keys of events, access tokens and the audit log's checkpoints: the current one, 1, followed by
        /// the others.
        case serviceKey = "service.key"
        /// The published keys of access tokens: the current one, 1, followed by the others.
        case accessTokenKeys = "access-token.key"
        /// The authorities of administrators' certificates that the console trusts: the current one, 1, followed by those
        /// of a rotation. Absent if the node does not serve the console.
        case administratorAuthority = "admin-ca.pem"
        /// The secrets that sign webhooks. Absent if there is no such file.
        case webhookSecrets = "webhook.secret"
        /// The realm of challenges, and the audience of tokens.
        case realm

        /// How much of the item must agree.
        var rule: Rule {
            switch self {
            case .realm: .same
            case .phoneCodeKeys, .wrappingKeys: .sharedVersions
            case .blindIndexKeys: .sharedVersionsAndNewest
            case .serverKeys, .webhookSecrets: .overlapping
            case .authority, .administratorAuthority, .nonceKey, .serviceKey, .accessTokenKeys: .published
            }
        }
    }

    /// The digest of a secret key: HMAC-SHA-256 (RFC 2104) with it, over a text that names the item. The key has at
    /// least 256 bits, so the digest cannot be reversed by trial.
    static func digest(of key: SymmetricKey, _ item: Item, version: Int = 1) -> Digest256 {
        let label = "countersign node fingerprint\0\(item.rawValue)\0\(version)"
        let bytes = Array(HMAC<SHA256>.authenticationCode(for: Data(label.utf8), using: key))
        return Digest256(bytes) ?? Digest256.of(bytes)
    }

    /// The policy files that differ on another node, sorted.
    func differingPolicies(from other: NodeFingerprints) -> [String] {
        policies.keys.filter { other.policies[$0] != nil && other.policies[$0] != policies[$0] }.sorted()
    }

    /// Whether another node has a newer version of some key. Then this node's files may have it too.
    func isBehind(_ other: NodeFingerprints) -> Bool {
        [Item.phoneCodeKeys, .wrappingKeys, .blindIndexKeys].contains { item in
            guard let own = items[item]?.keys.max(), let theirs = other.items[item]?.keys.max() else { return false }
            return own < theirs
        }
    }

    /// The items that have the same version with different keys on both nodes. Their files cannot be copies of one
    /// another, whichever is newer.
    func contradictions(to other: NodeFingerprints) -> [Item] {
        Item.allCases.filter { item in
            guard let own = items[item], let theirs = other.items[item] else { return false }
            return own.contains { theirs[$0.key] ?? $0.value != $0.value }
        }
    }

    /// Whether a version may be added to a file beside another node. If two files each got their own key under one
    /// version, they could not be merged again.
    func mayAddVersion(of item: Item, beside other: NodeFingerprints) -> Bool {
        guard let own = items[item], let theirs = other.items[item] else { return true }
        return own.allSatisfy { theirs[$0.key] ?? $0.value == $0.value }
            && own.keys.max() ?? 0 >= theirs.keys.max() ?? 0
    }

    var json: JSONValue {
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

    /// Parses ``json``. Items that this version of the program does not know are skipped.
    init(json: JSONValue) {
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
