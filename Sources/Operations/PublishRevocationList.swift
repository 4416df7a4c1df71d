import Authority
import Database
import Foundation
import Identity
import Records

/// The revocation list in force: made anew when a certificate was revoked since, and before it is an hour old.
public struct PublishRevocationList: Sendable {
    private let store: any Database
    private let authority: CertificateAuthority
    private let surroundings: Surroundings

    /// How old a list may be when it is handed out, seconds.
    static let maximumAge: TimeInterval = 1800
    /// From one list to the latest moment of its successor, seconds.
    static let validity: TimeInterval = 7 * 86_400

    /// Publishes for an authority.
    public init(store: any Database, authority: CertificateAuthority, surroundings: Surroundings) {
        self.store = store
        self.authority = authority
        self.surroundings = surroundings
    }

    /// The list in DER form.
    public func callAsFunction() async throws -> [UInt8] {
        let now = surroundings.now()
        if let current = try await store.look({ try Self.current($0, now: now) }) { return current.der }
        return try await store.decide { transaction in
            if let current = try Self.current(transaction, now: now) { return current.der }
            let revoked = try CertificateRecords(transaction).listRevoked(now: now)
            let number = (try RevocationListRecords(transaction).current()?.number ?? 0) + 1
            let entries = revoked.compactMap { certificate in
                certificate.revoked.map { revocation in
                    RevokedCertificate(
                        serial: certificate.serial, revocationDate: revocation.at,
                        reason: RevocationReason(rawValue: revocation.reason) ?? .unspecified)
                }
            }
            let list = try authority.issueRevocationList(
                entries, number: UInt64(number), thisUpdate: now, nextUpdate: now.addingTimeInterval(Self.validity))
            try RevocationListRecords(transaction).publish(
                .init(number: number, der: list.der, entries: Int64(entries.count), thisUpdate: now),
                nextUpdate: list.nextUpdate)
            return list.der
        }
    }

    /// The published list, where it still says everything.
    private static func current(
        _ transaction: any Transaction, now: Date
    ) throws -> RevocationListRecords.Published? {
        guard let current = try RevocationListRecords(transaction).current(),
            now.timeIntervalSince(current.thisUpdate) < maximumAge,
            try CertificateRecords(transaction).countRevoked(unexpiredAt: current.thisUpdate) == current.entries
        else { return nil }
        return current
    }
}
