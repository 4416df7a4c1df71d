import Authority
import Foundation
import Synchronization

/// Google's list of revoked attestation certificates as it was parsed last, so that not each certification parses it.
final class AttestationStatusCache: Sendable {
    private let present = Mutex<(changedAt: Date, list: AttestationStatusList)?>(nil)

    /// The list whose content is of a time; `nil` if another one was parsed.
    func list(of time: Date) -> AttestationStatusList? {
        present.withLock { $0?.changedAt == time ? $0?.list : nil }
    }

    func remember(_ list: AttestationStatusList, of time: Date) {
        present.withLock { $0 = (time, list) }
    }
}
