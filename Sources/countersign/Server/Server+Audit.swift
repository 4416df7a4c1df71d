import Crypto
import Domain
import Foundation
import Logging
import Operations

/// The part of the server that keeps the audit log: the loop that chains and signs it.
extension Server {
    /// Each checkpoint goes into the service's log as well: whoever keeps that elsewhere can tell by it that the end of
    /// the audit log was cut off.
    func auditLoop() -> @Sendable () async -> Void {
        let seal = SealAudit(
            store: store, key: keys.serviceKey, keyID: WebKey.identifier(of: keys.serviceKey.publicKey),
            environment: environment
        ) { [logger] checkpoint, token in
            logger.info(
                "audit checkpoint",
                metadata: ["entry": "\(checkpoint.sequence)", "checkpoint": "\(token)"])
        }
        return { [logger] in
            await seal.run {
                logger.error("the audit log cannot be chained", metadata: ["cause": .string(ErrorWords.of($0))])
            }
        }
    }

    /// Deletes what the policy lets go. A log that does not hold is left as it is: it shows what was done to it.
    ///
    /// - Throws: ``CommandFailure`` where the service's keys cannot be read.
    func purgeAudit() throws -> MaintenanceTask {
        PurgeAudit(
            store: store, key: keys.serviceKey, keyID: WebKey.identifier(of: keys.serviceKey.publicKey),
            keys: try KeyFiles.auditKeys(in: settings.keys), policy: policy, environment: environment
        ).task { [logger] anchor in
            logger.info("old audit entries were purged", metadata: ["through": "\(anchor.sequence)"])
        }
    }
}
