import Authority
import Database
import Delivery
import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

package extension Service {
    /// Uses the stored list of issuers, if it is another one than this node uses. Each node does it every minute.
    ///
    /// - Throws: `Refusal` `unavailable`, or why the list cannot be used.
    func refreshTrust() async throws {
        guard let issuers = wallet?.issuers else { return }
        let (policy, basis) = (policy[\.wallet], issuers.basis)
        let url = policy.vicalURL
        guard let roots = basis.listRoots, !url.isEmpty else {
            return issuers.use(nil, until: .distantPast, since: basis)
        }
        let known = basis.list.flatMap { $0.url.hasSameBytes(as: url) ? $0.date : nil }
        let found = try await read { transaction -> (end: Date, body: [UInt8]?)? in
            let records = TrustListRepository(transaction, at: url)
            guard let times = try records.times() else { return nil }
            let end = TrustList.end(date: times.date, nextUpdate: times.nextUpdate, grace: policy.trustGrace)
            return (end, times.date == known ? nil : try records.body())
        }
        // The list of a former URL is not used.
        guard let found else { return issuers.use(nil, until: .distantPast, since: basis) }
        guard let body = found.body else { return issuers.extend(until: found.end, since: basis) }
        do throws(TrustList.Defect) {
            let list = try TrustList(body, rootedIn: roots, now: environment.now())
            issuers.use((url, list), until: found.end, since: basis)
        } catch {
            throw UnusableTrustList(description: error.rawValue)
        }
    }

    /// Uses other files for wallets: SIGHUP reloads them. A service that began without wallets stays without them.
    func replaceWalletFiles(trust: IssuerTrust, reader: WalletReader, listRoots: TrustList.Roots?) async throws {
        wallet?.issuers.replace(trust: trust, reader: reader, listRoots: listRoots)
        try await refreshTrust()
    }

    /// The task that fetches the list of issuers every hour. Of all nodes one fetches it.
    func trustListTask(_ fetch: @escaping FetchList) -> MaintenanceTask {
        let fetched = FetchedTrustList()
        return MaintenanceTask(
            "trust_list", every: 3600, prepare: { try await fetched.set(fetchTrustList(fetch)) },
            recording: { transaction, _, events in
                guard let fetched = fetched.present else { return .all(0) }
                return .all(try fetched.store(by: "service", in: transaction, &events) ? 1 : 0)
            })
    }

    private func fetchTrustList(_ fetch: FetchList) async throws -> FetchedTrustList.Content? {
        let url = policy[\.wallet].vicalURL
        guard let roots = wallet?.issuers.listRoots, !url.isEmpty else { return nil }
        guard let body = await fetch(url, .issuerList) else {
            throw UnusableTrustList(description: "The list of issuers at vical_url cannot be fetched.")
        }
        do throws(TrustList.Defect) {
            return FetchedTrustList.Content(
                url: url, body: body, list: try TrustList(body, rootedIn: roots, now: environment.now()))
        } catch {
            throw UnusableTrustList(description: error.rawValue)
        }
    }
}

package extension Administration {
    /// Stores a list of issuers that was fetched now from a URL, unless the stored one from there is as new.
    ///
    /// - Returns: the list, and whether it was stored.
    /// - Throws: `TrustList.Defect`, `Refusal`.
    func storeTrustList(
        _ body: [UInt8], from url: String, rootedIn roots: TrustList.Roots
    ) async throws -> (list: TrustList, isNew: Bool) {
        let fetched = FetchedTrustList.Content(
            url: url, body: body, list: try TrustList(body, rootedIn: roots, now: environment.now()))
        let isNew = try await write(.manage) { transaction, events in
            try fetched.store(by: actor, in: transaction, &events)
        }
        return (fetched.list, isNew)
    }

    /// The stored list of issuers from a URL, which is not verified, and when it was fetched; `nil` if there is none.
    func storedTrustList(from url: String) async throws -> (body: [UInt8], fetchedAt: Date)? {
        try await read(.manage) { transaction in
            let records = TrustListRepository(transaction, at: url)
            guard let times = try records.times(), let body = try records.body() else { return nil }
            return (body, times.fetchedAt)
        }
    }
}

/// Why a list of issuers cannot be used, for the log.
private struct UnusableTrustList: Error, CustomStringConvertible {
    let description: String
}

/// The list between its fetch and the transaction that stores it.
private final class FetchedTrustList: Sendable {
    struct Content {
        let url: String
        let body: [UInt8]
        let list: TrustList

        func store(
            by actor: String, in transaction: any Transaction, _ events: inout RecordedEvents
        ) throws -> Bool {
            let isNew = try TrustListRepository(transaction, at: url).store(
                body, date: list.date, nextUpdate: list.nextUpdate)
            if isNew { events.record(.issuerListStored(dated: list.date, issuers: list.anchors.count), by: actor) }
            return isNew
        }
    }

    private let content = Mutex<Content?>(nil)

    func set(_ fetched: Content?) { content.withLock { $0 = fetched } }

    /// A transaction may run again, so it stays until the next fetch.
    var present: Content? { content.withLock { $0 } }
}
