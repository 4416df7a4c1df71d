import Authority
import Domain
import Foundation
import Synchronization

/// What a service needs to ask wallets and to verify their answers.
package struct Wallet: Sendable {
    let trust: IssuerTrust
    let reader: WalletReader
    private let lists: StatusLists

    /// - Parameters:
    ///   - trust: the issuers of credentials.
    ///   - reader: the service's certificate for wallets, and its key.
    ///   - now: the clock of the cache of status lists.
    ///   - fetch: fetches a status list from a public URL.
    package init(
        trust: IssuerTrust, reader: WalletReader, now: @escaping @Sendable () -> Date,
        fetch: @escaping FetchStatusList
    ) {
        self.trust = trust
        self.reader = reader
        lists = StatusLists(now: now, fetch: fetch)
    }

    /// A status list, at most five minutes old.
    func statusList(_ uri: String) async -> [UInt8]? { await lists.find(uri) }
}

/// Fetches a status list by its URI; `nil` if it cannot be fetched.
package typealias FetchStatusList = @Sendable (_ uri: String) async -> [UInt8]?

/// Status lists that were fetched. Each contains its own expiry, which every verification checks.
private final class StatusLists: Sendable {
    private let now: @Sendable () -> Date
    private let fetch: FetchStatusList
    private let kept = Mutex<[String: (bytes: [UInt8], fetchedAt: Date)]>([:])

    private static let lifetime: TimeInterval = 300
    /// A list has at most 2 MiB. Above this number all are dropped, and each is fetched again when it is needed.
    private static let capacity = 16

    init(now: @escaping @Sendable () -> Date, fetch: @escaping FetchStatusList) {
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
