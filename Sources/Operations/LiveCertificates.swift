import Database
import Foundation
import Identity
import Records
import Synchronization

/// A certificate in this process's memory. Connections hold on to it, so that judging a request is a look at it and no
/// look-up; a change replaces what it says.
public final class LiveCertificate: Sendable {
    private let value: Mutex<DeviceCertificate>
    private let creations = Mutex<Date?>(nil)

    init(_ certificate: DeviceCertificate) {
        value = Mutex(certificate)
    }

    /// What is known at this moment.
    var certificate: DeviceCertificate {
        value.withLock { $0 }
    }

    func replace(with certificate: DeviceCertificate) {
        value.withLock { $0 = certificate }
    }

    /// Refuses a certificate that does not count at a moment.
    func judge(now: Date) throws(Refusal) {
        try certificate.judge(now: now)
    }

    /// Counts the creation of a session against a limit.
    func countCreation(limit: RateLimit, now: Date) throws(Refusal) {
        let verdict = creations.withLock { arrival in
            let verdict = limit.judge(arrival: arrival, now: now)
            if case .admitted(let next) = verdict { arrival = next }
            return verdict
        }
        if case .refused(let retryAfter) = verdict {
            throw Refusal(
                .rateLimited, "Too many sessions were created under this certificate: try again in \(retryAfter) s.",
                retryAfter: retryAfter)
        }
    }
}

/// The certificates that this process has been shown, by thumbprint.
public final class LiveCertificates: Sendable {
    private let table = LiveTable<Digest256, LiveCertificate>()
    private let store: any Database

    /// Remembers what a store holds.
    public init(store: any Database) {
        self.store = store
    }

    /// The certificate with a thumbprint; `nil` where the issuance table has none.
    func find(_ thumbprint: Digest256) async throws -> LiveCertificate? {
        if let known = table.known(thumbprint) { return known }
        return try await table.find(thumbprint) {
            try await store.look { try CertificateRecords($0).find(thumbprint: thumbprint) }.map(LiveCertificate.init)
        }
    }

    /// Reads a device's certificates anew into what connections hold, and forgets the rest of them.
    func refresh(deviceID: DeviceID) async throws {
        let present = try await store.look { try CertificateRecords($0).list(deviceID: deviceID) }
        for certificate in present { table.known(certificate.thumbprint)?.replace(with: certificate) }
    }
}
