import Database
import Domain
import Encoding
import Foundation

/// The issuance table: every certificate of the internal CA, and whether it is still valid.
package struct CertificateRepository {
    private let transaction: any Transaction

    /// `unlisted` has a default, and is changed by the statements that revoke.
    static let columns = Table<DeviceCertificate>(
        "certificates",
        {
            serial, thumbprint, device, keyHash, notBefore, notAfter, issuedAt, replaces, attestation, firstSeenAt,
            revokedAt, reason in
            DeviceCertificate(
                serial: serial, thumbprint: thumbprint, deviceID: device, keyHash: keyHash, notBefore: notBefore,
                notAfter: notAfter, issuedAt: issuedAt, replaces: replaces, attestation: attestation,
                firstSeenAt: firstSeenAt,
                revoked: revokedAt.flatMap { at in reason.map { .init(at: at, reason: $0) } })
        },
        Field("serial", \.serial),
        Field("thumbprint", \.thumbprint),
        Field("device_id", \.deviceID),
        Field("key_hash", \.keyHash),
        Field("not_before", \.notBefore),
        Field("not_after", \.notAfter),
        Field("issued_at", \.issuedAt),
        Field("replaces", \.replaces),
        Field("attestation", \.attestation),
        Field("first_seen_at", \.firstSeenAt),
        Field("revoked_at", \.revoked?.at),
        Field("revocation_reason", \.revoked?.reason))

    /// Never used in a handshake, and not revoked.
    static let isUnseen = "first_seen_at IS NULL AND revoked_at IS NULL"

    /// The assignments that end a certificate without listing it.
    ///
    /// - Parameter moment: the statement's parameter for the time.
    static func supersession(_ moment: String) -> String {
        "revoked_at = \(moment), revocation_reason = 'superseded', unlisted = 1"
    }
}

package extension CertificateRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }
    private static let insertion = columns.insertion(with: "subject_public_key_info", "authority")

    /// Inserts a new certificate with its key, DER SubjectPublicKeyInfo.
    ///
    /// - Parameter authority: the digest of the issuing authority's key.
    func insert(_ certificate: DeviceCertificate, subjectPublicKeyInfo: [UInt8], authority: Digest256) throws {
        try transaction.execute(
            Self.insertion, Self.columns.row(certificate, subjectPublicKeyInfo.value, authority.value))
        if certificate.revoked != nil { try countRevocation() }
    }

    /// A certificate's key, DER SubjectPublicKeyInfo.
    func subjectPublicKeyInfo(serial: String) throws -> [UInt8]? {
        try transaction.value("SELECT subject_public_key_info FROM certificates WHERE serial = $1", [.text(serial)])
    }

    /// The digest of the key of the authority that issued a certificate.
    func authority(serial: String) throws -> Digest256? {
        try transaction.value("SELECT authority FROM certificates WHERE serial = $1", [.text(serial)])
    }

    /// The end of the last unexpired certificate of an authority, revoked or not; `nil` if there is none.
    func lastEnd(of authority: Digest256, now: Date) throws -> Date? {
        try transaction.value(
            "SELECT not_after FROM certificates WHERE authority = $1 AND not_after > $2 ORDER BY not_after DESC LIMIT 1",
            [authority.value, .time(now)])
    }

    /// A counter of revocations that belong on the revocation list. A list made at a different value is incomplete.
    func revocations() throws -> Int64 {
        try transaction.value("SELECT value FROM revocation_counter WHERE id = 1") ?? 0
    }

    private func countRevocation() throws {
        try transaction.enqueue("UPDATE revocation_counter SET value = value + 1 WHERE id = 1", [])
    }
    /// Never used in a handshake and not admitted: superseded and unlisted. Its row stays so that it can be revoked,
    /// because other services may accept it until it expires.
    private static let isUnadmitted = "first_seen_at IS NULL AND unlisted = 1"
    private static let isRevocable = "(revoked_at IS NULL OR \(isUnadmitted))"

    /// The renewals of a certificate that were never used in a handshake, by serial number.
    func listUnseenRenewals(of serial: String) throws -> [String] {
        try transaction.values(
            "SELECT serial FROM certificates WHERE replaces = $1 AND first_seen_at IS NULL AND \(Self.isRevocable)",
            [.text(serial)])
    }

    /// The certificate with a thumbprint.
    func find(thumbprint: Digest256) throws -> DeviceCertificate? {
        try transaction.first(Self.columns, "WHERE thumbprint = $1", [thumbprint.value])
    }

    /// The certificate with a serial number, lower-case hexadecimal.
    func find(serial: String) throws -> DeviceCertificate? {
        try transaction.first(Self.columns, "WHERE serial = $1", [.text(serial)])
    }

    /// The serial numbers that begin with hexadecimal digits, in order.
    func serials(beginningWith digits: String, limit: Int) throws -> [String] {
        try transaction.values(
            "SELECT serial FROM certificates WHERE serial >= $1 AND serial < $2 ORDER BY serial LIMIT $3",
            // "g" is the first letter after all digits, whatever the language of the database.
            [.text(digits), .text(digits + "g"), Value(limit)])
    }

    /// A device's certificates, newest first.
    func list(deviceID: DeviceID) throws -> [DeviceCertificate] {
        try transaction.query(Self.columns, "WHERE device_id = $1 ORDER BY issued_at DESC, serial", [.id(deviceID)])
    }

    /// The certificates of many devices, in few statements.
    func list(deviceIDs: [DeviceID]) throws -> [DeviceCertificate] {
        try ManyKeys.parts(deviceIDs).flatMap { part in
            try transaction.query(
                Self.columns, "WHERE device_id IN (\(ManyKeys.places(part)))", part.map { .id($0) })
        }
    }

    /// The certificates of the devices that a user signed in on last, newest first.
    func list(ofNewestDevices count: Int, of user: UserID, limit: Int) throws -> [DeviceCertificate] {
        try transaction.query(
            Self.columns,
            """
            WHERE device_id IN (\(UserTraceRepository.newestDevices(count))) ORDER BY issued_at DESC, serial LIMIT $2
            """, [.id(user), limit.value])
    }

    private static let newest = NewestFirst(table: "certificates", key: "serial", time: "issued_at")

    /// The newest certificates of all devices.
    ///
    /// - Parameter cursor: the serial number of the last certificate of the previous page; `nil` for the first page.
    /// - Throws: `Refusal` `not_found` if the cursor's row was deleted.
    func list(limit: Int, after cursor: String? = nil) throws -> [DeviceCertificate] {
        let page = Self.newest.page(from: 2)
        return try transaction.query(
            Self.columns, "WHERE \(page.condition) \(page.order) LIMIT $1",
            [limit.value] + Self.newest.place(behind: cursor, in: transaction))
    }

    /// All certificates of a public key.
    func list(keyHash: Digest256) throws -> [DeviceCertificate] {
        try transaction.query(Self.columns, "WHERE key_hash = $1", [keyHash.value])
    }

    private static let listed = ColumnTuple(
        Column<String>("serial"), Column<Date>("revoked_at"), Column<String>("revocation_reason"))

    /// The content of the revocation list: revoked, unexpired and not renewed with the same key, oldest revocation
    /// first.
    ///
    /// - Parameters:
    ///   - mark: the last entry of the previous page.
    ///   - limit: the largest number.
    func listed(
        now: Date, after mark: (at: Date, serial: String)? = nil, limit: Int = .max
    ) throws -> [(serial: String, at: Date, reason: String)] {
        try transaction.query(
            """
            SELECT \(Self.listed) FROM certificates
            WHERE revoked_at IS NOT NULL AND unlisted = 0 AND (revoked_at, serial) > ($2, $3) AND not_after > $1
            ORDER BY revoked_at, serial LIMIT \(limit)
            """, [.time(now), mark.map { .time($0.at) } ?? .integer(.min), .text(mark?.serial ?? "")]
        ).map(Self.listed.read)
    }

    /// The revoked certificates that have not expired, oldest revocation first.
    func listRevoked(now: Date) throws -> [DeviceCertificate] {
        try transaction.query(
            Self.columns,
            """
            WHERE revoked_at IS NOT NULL AND not_after > $1
            ORDER BY revoked_at, serial
            """, [.time(now)])
    }

    /// Revokes a certificate, even if it was never admitted; `false` if it is unknown or revoked already.
    func revoke(serial: String, at time: Date, reason: String) throws -> Bool {
        try list(
            transaction.value(
                """
                UPDATE certificates SET revoked_at = $2, revocation_reason = $3, unlisted = 0
                WHERE serial = $1 AND \(Self.isRevocable)
                RETURNING key_hash
                """, [.text(serial), .time(time), .text(reason)]))
    }

    /// Revokes a certificate because its key was compromised, even if it was already revoked or superseded for another
    /// reason. Then the earlier time is kept. `false` if it is unknown or was revoked as compromised already.
    func compromise(serial: String, at time: Date, reason: String) throws -> Bool {
        try list(
            transaction.value(
                """
                UPDATE certificates SET revoked_at = COALESCE(revoked_at, $2), revocation_reason = $3, unlisted = 0
                WHERE serial = $1 AND (revocation_reason IS NULL
                    OR revocation_reason NOT IN ('keyCompromise', 'cACompromise', 'aACompromise'))
                RETURNING key_hash
                """, [.text(serial), .time(time), .text(reason)]))
    }

    /// Ends a certificate whose renewal was used. If the renewal has the same key, no list needs to contain it.
    func supersede(serial: String, at time: Date, byTheSameKey isSameKey: Bool) throws {
        guard isSameKey else {
            _ = try revoke(serial: serial, at: time, reason: "superseded")
            return
        }
        try transaction.execute(
            """
            UPDATE certificates SET \(Self.supersession("$2")) WHERE serial = $1 AND revoked_at IS NULL
            """, [.text(serial), .time(time)])
    }

    /// Adds a revocation to the next list, together with the unlisted certificates of its key, which will not be
    /// certified again.
    private func list(_ revokedKey: Digest256?) throws -> Bool {
        guard let revokedKey else { return false }
        try transaction.enqueue(
            "UPDATE certificates SET unlisted = 0 WHERE key_hash = $1 AND unlisted = 1", [revokedKey.value])
        try countRevocation()
        return true
    }

    /// Stops admitting the unused renewals of a certificate.
    func unadmitRenewals(of serial: String, at time: Date) throws {
        try transaction.execute(
            "UPDATE certificates SET \(Self.supersession("$2")) WHERE replaces = $1 AND \(Self.isUnseen)",
            [.text(serial), .time(time)])
    }

    /// Records the first use of a certificate; `false` if it was recorded already, or the certificate was revoked
    /// meanwhile and thus supersedes none.
    func recordFirstSight(thumbprint: Digest256, at time: Date) throws -> Bool {
        try transaction.execute(
            """
            UPDATE certificates SET first_seen_at = $2
            WHERE thumbprint = $1 AND first_seen_at IS NULL AND revoked_at IS NULL
            """,
            [thumbprint.value, .time(time)]) > 0
    }
}
