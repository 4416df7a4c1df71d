import Database
import Domain
import Repositories

/// Notifies the providers of the users who have a session on a device that a certificate of it was revoked: of the first
/// users with the revocation, of the others by a task of maintenance.
struct NotifyOfRevocation {
    private let device: DeviceID
    private let holders: [(user: UserID, provider: ProviderID)]
    private let transaction: any Transaction

    /// Users of whom the transaction of the revocation writes.
    static let atOnce = 100

    /// Reads who has a session: before the revocation ends it.
    init(_ device: DeviceID, in transaction: any Transaction) throws {
        self.device = device
        self.transaction = transaction
        holders = try SessionRepository(transaction).users(on: device, limit: Self.atOnce)
    }

    /// Keeps the users who are not read yet for later: before their sessions end.
    func keep(_ serials: [String]) throws {
        guard holders.count == Self.atOnce, let last = holders.last else { return }
        for serial in serials {
            try CertificateNoticeRepository(transaction).add(serial, on: device, after: last.user)
        }
    }

    /// Records the events of the users who were read.
    func callAsFunction(_ serials: [String], _ events: inout RecordedEvents) {
        for serial in serials {
            for holder in holders {
                events.record(.userCertificateRevoked(serial: serial, holder.user, of: holder.provider))
            }
        }
    }
}
