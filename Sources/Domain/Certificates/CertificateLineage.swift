/// How the certificates of one device follow from each other.
package struct CertificateLineage: Sendable {
    private let certificates: [DeviceCertificate]

    /// Takes all certificates of a device.
    package init(_ certificates: [DeviceCertificate]) {
        self.certificates = certificates.sorted { ($0.issuedAt, $0.serial) < ($1.issuedAt, $1.serial) }
    }

    /// The renewals of a certificate, their renewals and so on, oldest first.
    package func successors(of serial: String) -> [DeviceCertificate] {
        descendants(of: [serial]).filter { $0.serial != serial }
    }

    /// What is lost when the key of a certificate is in other hands: the certificates of that key, and all that were
    /// renewed from one of them. Whoever holds the key could have had them made for keys of their own.
    package func compromised(by serial: String) -> [DeviceCertificate] {
        guard let key = certificates.first(where: { $0.serial == serial })?.keyHash else { return [] }
        return descendants(of: Set(certificates.filter { $0.keyHash == key }.map(\.serial)))
    }

    /// These and all that follow from them. Each round adds one at least, so that it ends.
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
