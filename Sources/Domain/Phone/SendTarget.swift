import Encoding
import Foundation

/// The recipient of a text and its requester, as limits count them. Numbers, prefixes and networks are keyed digests.
package struct SendTarget: Sendable {
    package let userID: UserID
    package let providerID: ProviderID
    /// The account's age, new or settled.
    package let age: AccountAge
    /// The keyed digest of the requester's network (``SendTarget/RequesterNetwork``).
    let network: Digest256
    package let number: Digest256
    /// The prefix in counter names: its country and a keyed digest.
    let prefixName: String
    /// The blind index of the number's prefix.
    let prefix: Digest256
    /// The number's country, ISO 3166-1 alpha-2.
    let country: String
    /// Whether the requester proved the number before.
    package let isOwner: Bool

    package init(
        userID: UserID, providerID: ProviderID, age: AccountAge, network: Digest256, number: Digest256,
        prefixName: String, prefix: Digest256, country: String, isOwner: Bool
    ) {
        self.userID = userID
        self.providerID = providerID
        self.age = age
        self.network = network
        self.number = number
        self.prefixName = prefixName
        self.prefix = prefix
        self.country = country
        self.isOwner = isOwner
    }
}

package extension SendTarget {
    /// The network of an address, wide enough to contain what is probably one requester: /24 of IPv4, /48 of IPv6.
    enum RequesterNetwork {
        /// - Parameter key: the limits' key of an address: an IPv4 address, or the decimal bytes of an IPv6 prefix with its
        ///   length.
        package static func key(ofAddress key: String) -> String {
            if let network = SenderNetworks(key).bits48 { return network }
            let parts = key.split(separator: ".")
            return parts.count == 4 && !key.contains("/") ? parts[..<3].joined(separator: ".") + "/24" : key
        }
    }

    /// The age of an account. Attackers who create accounts in bulk have only new ones.
    enum AccountAge: String, Sendable, CaseIterable {
        /// Younger than the policy requires, and without a proven number.
        case new
        /// Older, or with a proven number.
        case settled

        /// The age of an account at `now`.
        package init(createdAt: Date, assurance: Assurance, now: Date, policy: PhonePolicy) {
            let isOld = now.timeIntervalSince(createdAt) >= policy.settledAfter
            self = isOld || assurance >= .phone ? .settled : .new
        }
    }

    /// The name of a scope of this text, for counters and operators.
    func name(of scope: SendScope) -> String {
        switch scope {
        case .prefix: "prefix \(prefixName)"
        case .provider: "provider \(providerID) \(country) \(age.rawValue)"
        case .country: "country \(country) \(age.rawValue)"
        }
    }

    /// The counter of texts that a limited scope still sends.
    private func throughName(_ scope: SendScope) -> String { "through " + name(of: scope) }

    private static func short(_ digest: Digest256) -> String { Base64URL.encode(Array(digest.bytes.prefix(12))) }

    /// The counter of the requester's group.
    private var groupName: String { "\(Self.groupStart)\(providerID) \(Self.short(network)) \(age.rawValue)" }
    private var prefixFromNetworkName: String { "prefix \(prefixName) \(Self.short(network))" }
    private var ownersName: String { "owners \(prefixName)" }

    private static let groupStart = "group "

    /// Whether a counter belongs to a group.
    static func isGroup(_ counter: String) -> Bool { counter.utf8.starts(with: groupStart.utf8) }

    /// The counter of the requester's group, kept for days; `nil` for the number's owner.
    var group: String? { isOwner ? nil : groupName }

    /// The counters to read for a text to this target.
    var counters: [String] {
        guard !isOwner else { return [ownersName] }
        return [groupName, prefixFromNetworkName] + SendScope.allCases.map(name(of:))
            + SendScope.allCases.map(throughName)
    }

    /// The counters that a text increases when it is sent.
    func counters(attributedTo scopes: Set<SendScope>, through thinned: Set<SendScope>) -> [String] {
        guard !isOwner else { return [ownersName] }
        let attributed = SendScope.allCases.filter { $0 == .prefix || scopes.contains($0) }.map(name(of:))
        return [groupName, prefixFromNetworkName] + attributed
            + SendScope.allCases.filter(thinned.contains).map(throughName)
    }

    /// Sets the numbers of texts from the stored tallies.
    ///
    /// - Parameter thinned: the scopes that the breaker limits.
    func fill(_ counts: inout SendCounts, from tallies: [String: Tally], thinned: Set<SendScope>) {
        func tally(_ name: String) -> Tally { tallies[name] ?? Tally() }
        guard !isOwner else {
            counts.prefix = tally(ownersName)
            return
        }
        counts.group = tally(groupName)
        counts.prefixFromNetwork = tally(prefixFromNetworkName)
        counts.prefix = tally(name(of: .prefix))
        counts.provider = tally(name(of: .provider)).hour
        counts.country = tally(name(of: .country)).hour
        for scope in thinned { counts.thinned[scope] = tally(throughName(scope)).hour }
    }
}
