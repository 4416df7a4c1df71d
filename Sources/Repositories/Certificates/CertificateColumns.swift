import Database
import Domain
import Encoding
import Foundation

/// The columns of `certificates`. `unlisted` has a default, and is changed by the statements that revoke.
struct CertificateColumns: ColumnSet {
    let serial: Column<String>
    let thumbprint: Column<Digest256>
    let deviceID: Column<DeviceID>
    let keyHash: Column<Digest256>
    let notBefore: Column<Date>
    let notAfter: Column<Date>
    let issuedAt: Column<Date>
    let replaces: Column<String?>
    let firstSeenAt: Column<Date?>
    let revokedAt: Column<Date?>
    let revocationReason: Column<String?>
    let subjectPublicKeyInfo: Column<[UInt8]>

    init(_ list: inout ColumnList) {
        serial = list.add("serial")
        thumbprint = list.add("thumbprint")
        deviceID = list.add("device_id")
        keyHash = list.add("key_hash")
        notBefore = list.add("not_before")
        notAfter = list.add("not_after")
        issuedAt = list.add("issued_at")
        replaces = list.add("replaces")
        firstSeenAt = list.add("first_seen_at")
        revokedAt = list.add("revoked_at")
        revocationReason = list.add("revocation_reason")
        subjectPublicKeyInfo = list.addWritten("subject_public_key_info")
    }

    func certificate(_ row: Row) throws -> DeviceCertificate {
        let reason = try row[revocationReason]
        return DeviceCertificate(
            serial: try row[serial], thumbprint: try row[thumbprint], deviceID: try row[deviceID],
            keyHash: try row[keyHash], notBefore: try row[notBefore], notAfter: try row[notAfter],
            issuedAt: try row[issuedAt], replaces: try row[replaces], firstSeenAt: try row[firstSeenAt],
            revoked: try row[revokedAt].flatMap { at in reason.map { .init(at: at, reason: $0) } })
    }

    /// The certificate of a LEFT JOIN; `nil` if there is none.
    func certificateIfFound(_ row: Row) throws -> DeviceCertificate? {
        try row.isNull(serial) ? nil : certificate(row)
    }

    func write(_ certificate: DeviceCertificate, _ subjectPublicKeyInfo: [UInt8], to row: inout NewRow) {
        row.set(serial, certificate.serial)
        row.set(thumbprint, certificate.thumbprint)
        row.set(deviceID, certificate.deviceID)
        row.set(keyHash, certificate.keyHash)
        row.set(notBefore, certificate.notBefore)
        row.set(notAfter, certificate.notAfter)
        row.set(issuedAt, certificate.issuedAt)
        row.set(replaces, certificate.replaces)
        row.set(firstSeenAt, certificate.firstSeenAt)
        row.set(revokedAt, certificate.revoked?.at)
        row.set(revocationReason, certificate.revoked?.reason)
        row.set(self.subjectPublicKeyInfo, subjectPublicKeyInfo)
    }
}
