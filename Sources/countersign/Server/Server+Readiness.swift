import Database
import Domain
import Encoding
import Foundation
import Logging
import Operations

/// Whether this node may start and serve: its store, its cache and its clock.
extension Server {
    /// - Throws: ``CommandFailure`` if this machine's clock differs from the store's.
    func requireClock() throws {
        let difference = watch.clockDifference
        guard difference.magnitude > policy[\.bans].maximumClockDifference else { return }
        throw CommandFailure(
            "The clock of this machine is \(Int(saturating: difference.magnitude.rounded())) s \(difference > 0 ? "ahead of" : "behind") "
                + "the store's: set it by NTP, then start again.")
    }

    /// Logs a warning if the certificate is not valid for the external host of a listener.
    func warnOfOtherHosts(_ identity: ServerIdentity) {
        for url in [settings.baseURL, settings.clientURL].compactMap(\.self) {
            guard let host = URL(string: url)?.host, !identity.covers(host) else { continue }
            logger.warning(
                "the server's certificate is not valid for a listener's external host: clients refuse it",
                metadata: ["url": "\(url)", "remedy": "a certificate for it: countersign keys init --host"])
        }
    }

    /// Follows the store's changes.
    ///
    /// - Throws: `StoreError.notUsable` if the store was moved. The node then ends: it cannot serve, and its caches
    ///   would be wrong if the store were used again. `StoreRestored` if the store was restored.
    func storeLoop() async throws {
        do {
            try await watch.run {
                logger.error("the change log cannot be read", metadata: ["cause": .string(ErrorWords.of($0))])
            }
        } catch StoreError.notUsable(.moved(let place)) {
            logger.critical(
                "the store was moved: this node ends; start it with the store's new address",
                metadata: ["to": "\(place)"]
            )
            throw StoreError.notUsable(.moved(to: place))
        } catch let restored as CacheInvalidator.StoreRestored {
            logger.critical("the store was restored while this node ran: it ends; start it again")
            throw restored
        }
    }

    /// Whether the store, this node's caches and its clock can be used.
    func readiness() async -> (store: Bool, view: Bool, clock: Bool) {
        // If the store does not respond, a query would block too. A stale cache is sufficient evidence.
        let isFresh = watch.isFresh
        let store = isFresh ? (try? await store.check()) != nil : false
        return (store, isFresh, watch.isClockRight)
    }
}
