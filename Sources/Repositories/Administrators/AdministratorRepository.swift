import Database
import Domain
import Encoding
import Foundation

/// Administrators, and the digests of their certificates.
package struct AdministratorRepository {
    private let transaction: any Transaction
}

package extension AdministratorRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Table<Administrator>(
        "admins", Administrator.init,
        Field("id", \.id),
        Field("name", \.name),
        Field("role", \.role),
        Field("account", \.account),
        Field("created_at", \.createdAt),
        Field("removed_at", \.removedAt))

    private static let certificate = ColumnTuple(
        Column<Digest256>("thumbprint"), Column<AdministratorID>("admin_id"), Column<Date>("not_after"),
        Column<Digest256>("authority"))

    /// Inserts an administrator, or replaces the removed one with this id.
    func save(_ administrator: Administrator) throws {
        try transaction.execute(
            """
            \(Self.columns.insertion)
            ON CONFLICT (id) DO UPDATE SET \(Self.columns.overwriting(except: ["id", "name"]))
            """, Self.columns.row(administrator))
    }

    func find(_ id: AdministratorID) throws -> Administrator? {
        try transaction.first(Self.columns, "WHERE id = $1", [.id(id)])
    }

    func find(name: String) throws -> Administrator? {
        try transaction.first(Self.columns, "WHERE name = $1", [.text(name)])
    }

    func find(account: String) throws -> Administrator? {
        try transaction.first(Self.columns, "WHERE account = $1", [.text(account)])
    }

    /// All administrators by name, removed ones too.
    func list() throws -> [Administrator] {
        try transaction.query(Self.columns, "ORDER BY name")
    }

    // MARK: Certificates

    func insert(_ certificate: AdministratorCertificate, of administrator: AdministratorID) throws {
        try transaction.execute(
            "INSERT INTO admin_certificates (\(Self.certificate)) VALUES (\(Self.certificate.placeholders))",
            Self.certificate.row(certificate.thumbprint, administrator, certificate.notAfter, certificate.authority))
    }

    /// Revokes an administrator's certificates.
    ///
    /// - Returns: how many were valid until now.
    @discardableResult
    func revokeCertificates(of administrator: AdministratorID, at time: Date) throws -> Int {
        let valid = try transaction.value(
            "SELECT COUNT(*) FROM admin_certificates WHERE admin_id = $1 AND revoked_at IS NULL AND not_after > $2",
            [.id(administrator), .time(time)], as: Int.self)
        try transaction.execute(
            "UPDATE admin_certificates SET revoked_at = $2 WHERE admin_id = $1 AND revoked_at IS NULL",
            [.id(administrator), .time(time)])
        return valid ?? 0
    }

    /// The administrator whose certificate has a thumbprint, and the end of the certificate; `nil` if it was revoked or
    /// never issued.
    func find(
        thumbprint: Digest256
    ) throws -> (administrator: Administrator, notAfter: Date)? {
        let columns = ColumnTuple(Self.columns.of("a"), Column<Date>("c.not_after"))
        return try transaction.first(
            """
            SELECT \(columns) FROM admin_certificates c JOIN admins a ON a.id = c.admin_id
            WHERE c.thumbprint = $1 AND c.revoked_at IS NULL
            """, [thumbprint.value]
        ).map(columns.read).map { (administrator: $0, notAfter: $1) }
    }

    /// The end of the last valid certificate of each administrator who has one.
    func certificateEnds(at time: Date) throws -> [AdministratorID: Date] {
        let columns = ColumnTuple(Column<AdministratorID>("admin_id"), Column<Date>("MAX(not_after)"))
        let rows = try transaction.query(
            """
            SELECT \(columns) FROM admin_certificates WHERE revoked_at IS NULL AND not_after > $1 GROUP BY admin_id
            """, [.time(time)]
        ).map(columns.read)
        return Dictionary(rows.map { ($0, $1) }) { first, _ in first }
    }

    /// The names of the administrators with a valid certificate of an authority, sorted.
    func holders(ofCertificatesFrom authority: Digest256, at time: Date) throws -> [String] {
        let columns = ColumnTuple(Column<String>("a.name"))
        return try transaction.query(
            """
            SELECT DISTINCT \(columns) FROM admin_certificates c JOIN admins a ON a.id = c.admin_id
            WHERE c.authority = $1 AND c.revoked_at IS NULL AND c.not_after > $2 ORDER BY a.name
            """, [authority.value, .time(time)]
        ).map(columns.read)
    }

    // MARK: Restores

    /// The thumbprints of revoked certificates, for a store that replaces this one.
    func revokedCertificates() throws -> [(thumbprint: Digest256, at: Date)] {
        let columns = ColumnTuple(Column<Digest256>("thumbprint"), Column<Date>("revoked_at"))
        return try transaction.query(
            "SELECT \(columns) FROM admin_certificates WHERE revoked_at IS NOT NULL"
        ).map(columns.read).map { (thumbprint: $0, at: $1) }
    }

    /// Revokes a certificate as in the other store; `false` if it is unknown here or already revoked.
    func revokeCertificate(_ thumbprint: Digest256, at time: Date) throws -> Bool {
        try transaction.execute(
            "UPDATE admin_certificates SET revoked_at = $2 WHERE thumbprint = $1 AND revoked_at IS NULL",
            [thumbprint.value, .time(time)]) > 0
    }
}
