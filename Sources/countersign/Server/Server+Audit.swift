import Crypto
import Domain
import Foundation
import Logging
import Operations

/// The loop that chains and signs the audit log.
extension Server {
    /// Each checkpoint is also logged. A copy of the log that is kept elsewhere can then prove that the end of the
    /// audit log was cut off.
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

    /// Purges the audit log by the policy. An invalid log is left unchanged, as evidence.
    ///
    /// - Throws: ``CommandFailure`` if the service's keys cannot be read.
    func purgeAudit() throws -> MaintenanceTask {
        PurgeAudit(
            store: store, key: keys.serviceKey, keyID: WebKey.identifier(of: keys.serviceKey.publicKey),
            keys: try KeyFiles.auditKeys(in: settings.keys), policy: policy, environment: environment
        ).task { [logger] anchor in
            logger.info("old audit entries were purged", metadata: ["through": "\(anchor.sequence)"])
        }
    }
}
