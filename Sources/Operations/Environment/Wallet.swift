import Authority
import Delivery
import Domain
import Foundation

/// What a service needs to ask wallets and to verify their answers.
package struct Wallet: Sendable {
    let issuers: TrustedIssuers
    let lists: StatusLists

    /// - Parameters:
    ///   - trust: the issuers among the keys.
    ///   - reader: the service's certificate for wallets, and its key.
    ///   - listRoots: the roots of the list of issuers; `nil` if none is used.
    ///   - now: the clock of the cache of status lists.
    ///   - fetch: fetches a status list from a public URL, within a few seconds.
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
}

/// Fetches a list from a public URL for the one who names the URL; `nil` if it cannot be fetched.
package typealias FetchList = @Sendable (_ uri: String, _ owner: HostOwner) async -> [UInt8]?
