import Domain
import Encoding
import HTTPTypes
import Hummingbird
import NIOCore

/// Probes and metrics, on loopback.
package struct OpsRoutes: Sendable {
    let isReady: @Sendable () async -> (store: Bool, view: Bool, clock: Bool)
    let metrics: @Sendable () -> String

    /// Takes the readiness check and the metrics' text. The check covers the store, the staleness of this node's
    /// caches and its clock.
    package init(
        isReady: @escaping @Sendable () async -> (store: Bool, view: Bool, clock: Bool),
        metrics: @escaping @Sendable () -> String
    ) {
        self.isReady = isReady
        self.metrics = metrics
    }

    func add(to router: ListedRouter<PublicContext>) {
        router.get("livez", cost: .free) { _, _ in Response.json(["live": .bool(true)]) }
        router.get("readyz", cost: .free) { _, _ in
            let (store, view, clock) = await isReady()
            let ready = store && view && clock
            return Response.json(
                status: ready ? .ok : .serviceUnavailable,
                ["ready": .bool(ready), "store": .bool(store), "view": .bool(view), "clock": .bool(clock)])
        }
        router.get("metrics", cost: .free) { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: metrics())))
        }
    }
}
