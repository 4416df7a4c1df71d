import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@Suite("Nodes that share a store")
struct NodeAgreementTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func digest(_ text: String) -> Digest256 { Digest256.of(text) }

    private static func fingerprints(
        _ changes: [NodeFingerprints.Item: [Int: String]] = [:], policies: [String: String] = [:]
    ) -> NodeFingerprints {
        var items = Dictionary(
            uniqueKeysWithValues: NodeFingerprints.Item.allCases.map { ($0, [1: digest("\($0) 1")]) })
        items[.serverKeys] = [1: digest("present"), 2: digest("next")]
        for (item, versions) in changes { items[item] = versions.mapValues(digest) }
        let files = ["phones.yaml": "p", "bans.yaml": "b"].merging(policies) { $1 }
        return NodeFingerprints(items: items, policies: files.mapValues(digest))
    }

    private static func node(_ fingerprints: NodeFingerprints, seen age: TimeInterval = 1) -> ClusterMember {
        ClusterMember(
            id: NodeID(UUID()), host: "web-2", version: "1", startedAt: now - 3600, seenAt: now - age,
            fingerprints: fingerprints)
    }

    /// The verdict on a node that came three seconds ago.
    private static func evaluate(
        _ own: NodeFingerprints, _ nodes: [ClusterMember], allowsOtherPolicies: Bool = false, inForce: Int = 1
    ) -> NodeAgreement {
        NodeAgreement.evaluate(
            own, beside: nodes, allowsOtherPolicies: allowsOtherPolicies, versionInForce: inForce, arrival: now - 3,
            now: now)
    }

    private static func differences(_ verdict: NodeAgreement) -> [NodeFingerprints.Difference]? {
        if case .refused(let disagreement) = verdict { disagreement.differences } else { nil }
    }

    @Test("A node with the same keys and policies comes in, also as the first one")
    func agreed() {
        #expect(Self.evaluate(Self.fingerprints(), []) == .agreed)
        #expect(Self.evaluate(Self.fingerprints(), [Self.node(Self.fingerprints())]) == .agreed)
    }

    @Test("Any other key, and another realm, keeps a node out", arguments: NodeFingerprints.Item.allCases)
    func otherKey(item: NodeFingerprints.Item) {
        let own = Self.fingerprints([item: [1: "another", 2: "another's next"]])
        #expect(Self.differences(Self.evaluate(own, [Self.node(Self.fingerprints())])) == [.shared(item)])
        let whatever = Self.evaluate(own, [Self.node(Self.fingerprints())], allowsOtherPolicies: true)
        #expect(Self.differences(whatever) == [.shared(item)])
    }

    @Test(
        "A version that only one of two has does not part them, where a row of it makes the other read its file again")
    func versions() {
        for item in [NodeFingerprints.Item.wrappingKeys, .phoneCodeKeys] {
            let (old, new) = (Self.fingerprints(), Self.fingerprints([item: [1: "\(item) 1", 2: "\(item) 2"]]))
            #expect(Self.evaluate(new, [Self.node(old)]) == .agreed)
            #expect(Self.evaluate(old, [Self.node(new)]) == .agreed)
            let pruned = Self.fingerprints([item: [2: "\(item) 2", 3: "\(item) 3"]])
            #expect(Self.evaluate(pruned, [Self.node(new)]) == .agreed)
            #expect(Self.differences(Self.evaluate(pruned, [Self.node(old)])) == [.shared(item)])
            let clash = Self.fingerprints([item: [1: "\(item) 1", 2: "drawn elsewhere"]])
            #expect(Self.differences(Self.evaluate(clash, [Self.node(new)])) == [.shared(item)])
        }
    }

    @Test("The newest index key is the same everywhere; an older line may be gone")
    func indexKeys() {
        let (old, new) = (
            Self.fingerprints(), Self.fingerprints([.blindIndexKeys: [1: "blindIndexKeys 1", 2: "second"]])
        )
        #expect(Self.differences(Self.evaluate(new, [Self.node(old)])) == [.shared(.blindIndexKeys)])
        #expect(Self.differences(Self.evaluate(old, [Self.node(new)])) == [.shared(.blindIndexKeys)])
        #expect(Self.evaluate(Self.fingerprints([.blindIndexKeys: [2: "second"]]), [Self.node(new)]) == .agreed)
    }

    @Test("While the server's key is rotated the next key of some is the present one of others")
    func serverKeys() {
        let rotated = Self.fingerprints([.serverKeys: [1: "next", 2: "after it"]])
        #expect(Self.evaluate(rotated, [Self.node(Self.fingerprints())]) == .agreed)
        let twice = Self.fingerprints([.serverKeys: [1: "after it", 2: "last"]])
        #expect(Self.differences(Self.evaluate(twice, [Self.node(Self.fingerprints())])) == [.shared(.serverKeys)])
    }

    @Test(
        "While a key that signs or makes nonces is rotated each node accepts the present one of the others",
        arguments: [NodeFingerprints.Item.accessTokenKeys, .serviceKey, .nonceKey, .authority, .administratorAuthority])
    func published(item: NodeFingerprints.Item) {
        let first = Self.fingerprints([item: [1: "old", 2: "new"]])
        let second = Self.fingerprints([item: [1: "new", 2: "old"]])
        #expect(Self.evaluate(second, [Self.node(first)]) == .agreed)
        // The new key was not accepted before it was used.
        let unready = Self.fingerprints([item: [1: "old"]])
        #expect(Self.differences(Self.evaluate(second, [Self.node(unready)])) == [.shared(item)])
        #expect(Self.differences(Self.evaluate(unready, [Self.node(second)])) == [.shared(item)])
    }

    @Test("Other policies keep a node out, by the name of the file, unless it is told to take them")
    func policies() {
        let own = Self.fingerprints(policies: ["phones.yaml": "changed"])
        let nodes = [Self.node(Self.fingerprints())]
        #expect(Self.differences(Self.evaluate(own, nodes)) == [.policy("phones.yaml")])
        #expect(Self.evaluate(own, nodes, allowsOtherPolicies: true) == .agreed)
        #expect(Self.node(own).differingPolicies(among: nodes) == ["phones.yaml"])
        // A file that the other's version of the program does not know.
        let newer = Self.fingerprints(policies: ["new.yaml": "n"])
        #expect(Self.evaluate(newer, nodes) == .agreed)
    }

    @Test("A node that was not seen since is waited for, and after fifteen seconds does not count")
    func dead() {
        let own = Self.fingerprints([.nonceKey: [1: "another"]])
        for age in [3.0, 5, 14.9] {
            guard case .undecided = Self.evaluate(own, [Self.node(Self.fingerprints(), seen: age)]) else {
                Issue.record("a node last seen \(age) s ago, before this one came, is decided upon")
                continue
            }
        }
        #expect(Self.evaluate(own, [Self.node(Self.fingerprints(), seen: 15)]) == .agreed)
        let two = [Self.node(Self.fingerprints(), seen: 10), Self.node(Self.fingerprints(), seen: 2)]
        #expect(Self.differences(Self.evaluate(own, two)) == [.shared(.nonceKey)])
    }

    @Test("A node whose newest wrapping key is older than the one in force does not come in, alone or not")
    func behind() {
        #expect(Self.evaluate(Self.fingerprints(), [], inForce: 2) == .behind(versionInForce: 2))
        let new = Self.fingerprints([.wrappingKeys: [2: "second"]])
        #expect(Self.evaluate(new, [], inForce: 2) == .agreed)
        #expect(Self.fingerprints().isBehind(new))
        #expect(!new.isBehind(Self.fingerprints()))
    }

    @Test("A version is added only to a file that lacks nothing of another node's")
    func adding() {
        let own = Self.fingerprints([.wrappingKeys: [1: "a", 2: "b"]])
        func may(_ other: [Int: String]) -> Bool {
            own.mayAddVersion(of: .wrappingKeys, beside: Self.fingerprints([.wrappingKeys: other]))
        }
        #expect(may([1: "a"]) && may([1: "a", 2: "b"]) && may([2: "b"]))
        #expect(!may([1: "a", 2: "b", 3: "c"]))
        #expect(!may([1: "a", 2: "drawn elsewhere"]))
        func contradicted(_ other: [Int: String]) -> Bool {
            own.contradictions(to: Self.fingerprints([.wrappingKeys: other])) == [.wrappingKeys]
        }
        #expect(!contradicted([1: "a", 2: "b", 3: "c"]) && !contradicted([3: "c"]))
        #expect(contradicted([2: "drawn elsewhere", 3: "c"]))
    }

    @Test("What the store keeps reads as it was written, and what is not known there is left out")
    func form() throws {
        let own = Self.fingerprints([.wrappingKeys: [1: "a", 12: "b"]])
        let text = own.json.jsonText
        #expect(NodeFingerprints(json: try StrictJSON.parse(Array(text.utf8))) == own)
        let strange = text.replacing("\"keys\":{", with: "\"keys\":{\"later.key\":{\"1\":\"x\"},")
        #expect(NodeFingerprints(json: try StrictJSON.parse(Array(strange.utf8))) == own)
        #expect(NodeFingerprints(json: .null) == NodeFingerprints(items: [:], policies: [:]))
    }

    @Test("A digest depends on the key, on what the key is, and on its version, and is not the key")
    func digests() {
        let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
        let digest = NodeFingerprints.digest(of: key, .wrappingKeys, version: 1)
        #expect(digest == NodeFingerprints.digest(of: key, .wrappingKeys))
        #expect(digest != NodeFingerprints.digest(of: key, .wrappingKeys, version: 2))
        #expect(digest != NodeFingerprints.digest(of: key, .blindIndexKeys))
        #expect(digest != NodeFingerprints.digest(of: SymmetricKey(size: .bits256), .wrappingKeys))
        #expect(digest.bytes != [UInt8](repeating: 7, count: 32))
        let secret = Secret([UInt8](repeating: 7, count: 32))
        #expect(NonceKey(secret).fingerprint != NonceKey(secret, generation: "2").fingerprint)
    }
}
