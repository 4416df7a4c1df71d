import API
import Database
import Domain
import Encoding
import Foundation
import Logging
import Operations

/// Whether this node may start and serve: its store, its view of it and its clock.
extension Server {
    /// - Throws: ``CommandFailure`` where this machine's clock is not the store's.
    func requireClock() throws {
        let difference = watch.clockDifference
        guard difference.magnitude > policy[\.bans].maximumClockDifference else { return }
        throw CommandFailure(
            "The clock of this machine is \(Int(saturating: difference.magnitude.rounded())) s \(difference > 0 ? "ahead of" : "behind") "
                + "the store's: set it by NTP, then start again.")
    }

    /// Says in the log where a certificate is not for the hosts by which the listeners are seen from outside.
    func warnOfOtherHosts(_ identity: ServerIdentity) {
        for url in [settings.baseURL, settings.clientURL].compactMap(\.self) {
            guard let host = URL(string: url)?.host, !identity.covers(host) else { continue }
            logger.warning(
                "the server's certificate is not for the host of a listener as seen from outside: clients refuse it",
                metadata: ["url": "\(url)", "remedy": "a certificate for it: countersign keys init --host"])
        }
    }

    /// Follows the store's changes.
    ///
    /// - Throws: `StoreError.notUsable` where the store was moved, which ends this node: it has nothing to serve from, and
    ///   what it remembers would be wrong if the store came back into use. `StoreRestored` where it was put back.
    func storeLoop() async throws {
        do {
            try await watch.run {
                logger.error("the change log cannot be read", metadata: ["cause": .string(ErrorWords.of($0))])
            }
        } catch StoreError.notUsable(.moved(let place)) {
            logger.critical(
                "the store was moved: this node ends; start it with the store's new place", metadata: ["to": "\(place)"]
            )
            throw StoreError.notUsable(.moved(to: place))
        } catch let restored as StoreRestored {
            logger.critical("the store was restored under this node: it ends; start it again")
            throw restored
        }
    }

    func opsRoutes() -> OpsRoutes {
        OpsRoutes(
            isReady: { [self] in
                // Where the store hangs a look at it would hang as well: a view that is old says enough.
                let isFresh = watch.isFresh
                let store = isFresh ? (try? await store.check()) != nil : false
                return (store, isFresh, watch.isClockRight)
            },
            metrics: { [registry] in registry.render() })
    }
}
