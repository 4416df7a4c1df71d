import AsyncHTTPClient
import Domain
import Foundation

package struct SenderFactory: Sendable {
    private let parts: SenderParts
}

package extension SenderFactory {
    /// - Parameters:
    ///   - policy: `Policies/delivery.yaml`.
    ///   - secret: reads a file in `Keys/` by its name; its errors are thrown at the start. The file of Amazon's
    ///     credentials is read before each attempt, because temporary ones are replaced. The others are read once.
    ///   - environment: the process's variables, for Amazon's credentials if no file is named.
    ///   - texts: the path that the `file` sender appends to.
    ///   - isLoopbackOnly: whether every listener is on loopback, which the `file` sender requires.
    ///   - http: a client made with `AsyncHTTPClient/HTTPClient/Configuration/delivery(_:)`, which outlives the senders.
    ///   - now: the clock for signatures and lines.
    init(
        _ policy: DeliveryPolicy, secret: @escaping @Sendable (_ file: String) throws -> String,
        environment: [String: String], texts: String, isLoopbackOnly: Bool, http: HTTPClient,
        now: @escaping @Sendable () -> Date
    ) {
        parts = SenderParts(
            secret: secret, environment: environment, texts: texts, isLoopbackOnly: isLoopbackOnly,
            http: BoundedHTTPClient(http: http, timeout: policy.attemptTimeout), now: now)
    }

    /// The senders in the policy's order, ready to send.
    ///
    /// - Throws: ``DeliveryError``, or what reading a secret throws.
    func make(_ entries: [SenderEntry]) throws -> Failover {
        let names = SenderKind.all.map(\.name).joined(separator: ", ")
        guard !entries.isEmpty else { throw DeliveryError.policy("senders", expected: "at least one of \(names)") }
        return Failover(
            try entries.map { entry in
                guard let kind = SenderKind.all.first(where: { $0.name == entry.kind }) else {
                    throw DeliveryError.sender(kind: entry.kind, key: "kind", expected: "one of \(names)")
                }
                return try kind.make(entry, parts)
            })
    }
}
