import Crypto
import Foundation
import Identity
import Logging
import Operations

/// The part of the house that keeps the audit log: the loop that chains and signs it.
extension House {
    /// Each checkpoint goes into the service's log as well: whoever keeps that elsewhere can tell by it that the end of
    /// the audit log was cut off.
    func auditLoop() -> @Sendable () async -> Void {
        let seal = SealAudit(
            store: store, key: keys.serviceKey, keyID: WebKey.identifier(of: keys.serviceKey.publicKey),
            surroundings: surroundings
        ) { [logger] checkpoint, token in
            logger.info(
                "audit checkpoint",
                metadata: ["entry": "\(checkpoint.sequence)", "checkpoint": "\(token)"])
        }
        return { [logger] in
            await seal.run { logger.error("the audit log cannot be chained", metadata: ["cause": "\($0)"]) }
        }
    }
}
