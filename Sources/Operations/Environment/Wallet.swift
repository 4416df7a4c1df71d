import Authority
import Domain
import Foundation
import Synchronization

/// What a service needs to ask wallets and to verify their answers.
package struct Wallet: Sendable {
    let issuers: TrustedIssuers
    private let lists: StatusLists

    /// - Parameters:
    ///   - trust: the issuers among the keys.
    ///   - reader: the service's certificate for wallets, and its key.
    ///   - listRoots: the roots of the list of issuers; `nil` if none is used.
    ///   - now: the clock of the cache of status lists.
    ///   - fetch: fetches a status list from a public URL.
    package init(
        trust: IssuerTrust, reader: WalletReader, listRoots: TrustList.Roots? = nil,
        now: @escaping @Sendable () -> Date, fetch: @escaping FetchList
    ) {
        issuers = TrustedIssuers(trust: trust, reader: reader, listRoots: listRoots, now: now)
        lists = StatusLists(now: now, fetch: fetch)
    }

    /// The issuers that are trusted now.
    var trust: IssuerTrust { issuers.trust }
    var reader: WalletReader { issuers.reader }

    /// A status list, at most five minutes old.
    func statusList(_ uri: String) async -> [UInt8]? { await lists.find(uri) }
}

/// Fetches a list from a public URL; `nil` if it cannot be fetched.
package typealias FetchList = @Sendable (_ uri: String) async -> [UInt8]?

/// Status lists that were fetched. Each contains its own expiry, which every verification checks.
private final class StatusLists: Sendable {
    private let now: @Sendable () -> Date
    private let fetch: FetchList
    private let kept = Mutex<[String: (bytes: [UInt8], fetchedAt: Date)]>([:])

    private static let lifetime: TimeInterval = 300
    /// A list has at most 2 MiB. Above this number all are dropped, and each is fetched again when it is needed.
    private static let capacity = 16

    init(now: @escaping @Sendable () -> Date, fetch: @escaping FetchList) {
        self.now = now
        self.fetch = fetch
    }

    func find(_ uri: String) async -> [UInt8]? {
        let moment = now()
        let known = kept.withLock { $0[uri] }
        if let known, moment.timeIntervalSince(known.fetchedAt).magnitude < Self.lifetime { return known.bytes }
        guard let bytes = await fetch(uri) else { return nil }
        kept.withLock { kept in
            if kept.count >= Self.capacity { kept.removeAll() }
            kept[uri] = (bytes, moment)
        }
        return bytes
    }
}
