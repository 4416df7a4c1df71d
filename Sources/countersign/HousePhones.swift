import API
import Foundation
import Identity
import Logging
import Metrics
import Operations

/// The part of the house that texts: the routes of phone verification, and the loop that empties the outbox.
extension House {
    func phoneRoutes(_ rateLimiting: RateLimiting) throws -> PhoneRoutes {
        PhoneRoutes(
            start: StartPhoneVerification(
                store: store, keys: keys.personal, codes: keys.phoneCodes, nonceKey: NonceKey(keys.nonceSecret),
                outbox: outboxSignal, policy: policy, rateLimiting: rateLimiting, surroundings: surroundings),
            check: CheckPhoneVerification(
                store: store, keys: keys.personal, codes: keys.phoneCodes, policy: policy, surroundings: surroundings),
            resend: ResendPhoneCode(
                store: store, keys: keys.personal, outbox: outboxSignal, policy: policy, rateLimiting: rateLimiting,
                surroundings: surroundings),
            policy: policy)
    }

    /// The loop that sends.
    ///
    /// - Throws: ``CommandFailure`` where the sender cannot be used.
    func outboxLoop() throws -> @Sendable () async -> Void {
        guard settings.isLoopbackOnly else {
            throw CommandFailure("The file sender is refused off loopback.")
        }
        let sender = try FileSender(path: settings.texts)
        let host = settings.realm
        let compose = ComposePhoneText(keys: keys.personal, codes: keys.phoneCodes, policy: policy) { digits, _ in
            FileSender.text(digits: digits, host: host)
        }
        let deliver = DeliverOutbox(
            store: store, compose: compose, surroundings: surroundings, send: { await sender.send($0) },
            observe: { message in
                Counter(
                    label: "outbox_messages",
                    dimensions: [("kind", message.kind.rawValue), ("state", message.state.rawValue)]
                ).increment()
            })
        return { [outboxSignal, logger] in
            await deliver.run(outboxSignal) { error in
                logger.error("the outbox cannot be emptied", metadata: ["cause": "\(error)"])
            }
        }
    }
}
