import API
import Database
import Foundation
import Identity
import Operations

/// Whether this node may start and serve: its store, its view of it and its clock.
extension House {
    /// - Throws: ``CommandFailure`` where this machine's clock is not the store's.
    func requireClock() throws {
        let difference = watch.clockDifference
        guard difference.magnitude > policy[\.bans].maximumClockDifference else { return }
        throw CommandFailure(
            "The clock of this machine is \(Int(saturating: difference.magnitude.rounded())) s \(difference > 0 ? "ahead of" : "behind") "
                + "the store's: set it by NTP, then start again.")
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
