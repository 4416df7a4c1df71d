import Domain
import Encoding
import HTTPTypes
import Hummingbird
import NIOCore

/// Probes and metrics, on loopback.
struct OpsRoutes: Sendable {
    /// Checks the store, the staleness of this node's caches and its clock.
    let isReady: @Sendable () async -> (store: Bool, view: Bool, clock: Bool)
    let metrics: @Sendable () -> String

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
