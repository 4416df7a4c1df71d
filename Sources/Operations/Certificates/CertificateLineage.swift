import Domain
import Foundation

/// Which certificates of one device renewed which.
struct CertificateLineage: Sendable {
    private let certificates: [DeviceCertificate]
}

extension CertificateLineage {
    /// - Parameter certificates: all certificates of one device.
    init(_ certificates: [DeviceCertificate]) {
        self.certificates = certificates.sorted { ($0.issuedAt, $0.serial) < ($1.issuedAt, $1.serial) }
    }

    /// All renewals of a certificate, direct and indirect, oldest first.
    func successors(of serial: String) -> [DeviceCertificate] {
        descendants(of: [serial]).filter { $0.serial != serial }
    }

    /// The certificates to revoke if the key of a certificate is stolen: all with that key, and all that were renewed
    /// from one of them. The thief could have renewed them with other keys.
    func compromised(by serial: String) -> [DeviceCertificate] {
        guard let key = certificates.first(where: { $0.serial == serial })?.keyHash else { return [] }
        return descendants(of: Set(certificates.filter { $0.keyHash == key }.map(\.serial)))
    }

    /// These certificates and all their renewals. Each round adds at least one, so the loop ends.
    private func descendants(of serials: Set<String>) -> [DeviceCertificate] {
        var found = serials
        while true {
            let more = certificates.filter { certificate in
                !found.contains(certificate.serial) && certificate.replaces.map(found.contains) == true
            }
            guard !more.isEmpty else { break }
            found.formUnion(more.map(\.serial))
        }
        return certificates.filter { found.contains($0.serial) }
    }
}
