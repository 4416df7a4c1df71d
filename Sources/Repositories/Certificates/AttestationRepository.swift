import Database
import Domain
import Encoding
import Foundation

/// Attestations of devices, the apps that may attest, and Google's list of revoked certificates. Receipts and identifiers
/// of devices are never stored.
package struct AttestationRepository {
    private let transaction: any Transaction

    /// How long after a fetch the next one is due, and after one that failed, in seconds.
    private static let (pause, pauseAfterFailure): (TimeInterval, TimeInterval) = (3600, 300)
    private static let times = ColumnTuple(
        Column<Date>("changed_at"), Column<Date>("read_at"), Column<String?>("failure"))
    private static let columns = ColumnTuple(
        Column<DeviceID>("device_id"), Column<DeviceAttestation.Kind>("kind"),
        Column<DeviceAttestation.Level>("level"), Column<AttestedApp>("app"), Column<Digest256?>("key_id"),
        Column<[UInt8]?>("public_key"), Column<Int64?>("counter"), Column<String?>("environment"),
        Column<String?>("serials"), Column<Int?>("patch_level"), Column<Date>("attested_at"),
        Column<Date>("checked_at"))
}

package extension AttestationRepository {
    /// An attestation as it is stored, and the counter of the last assertion of App Attest.
    typealias Stored = (attestation: DeviceAttestation, counter: UInt32, attestedAt: Date)

    /// When the content changed, when it was fetched last, and why the last fetch failed.
    typealias ListTimes = (changedAt: Date, readAt: Date, failure: String?)

    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Stores the attestation of a device in place of an earlier one.
    ///
    /// - Throws: `Refusal` `invalid_csr` with reason `key_in_use` if another device has the key of App Attest.
    func set(_ attestation: DeviceAttestation, of device: DeviceID) throws {
        if let keyID = attestation.keyID {
            let holder: DeviceID? = try transaction.value(
                "SELECT device_id FROM device_attestations WHERE key_id = $1", [keyID.value])
            guard holder == nil || holder == device else { throw Refusal.attestedKeyInUse }
        }
        try remove(of: device)
        let row =
            switch attestation {
            case .appAttest(let key, let app, let isProduction):
                Self.columns.row(
                    device, attestation.kind, attestation.level, app, attestation.keyID, key.subjectPublicKeyInfo, 0,
                    isProduction ? Self.production : Self.development, nil, nil, transaction.now, Self.neverChecked)
            case .androidKey(let level, let app, let patchLevel, let serials):
                Self.columns.row(
                    device, attestation.kind, level, app, nil, nil, nil, nil, serials.joined(separator: " "),
                    patchLevel, transaction.now, Self.neverChecked)
            }
        try transaction.execute(
            "INSERT INTO device_attestations (\(Self.columns)) VALUES (\(Self.columns.placeholders))", row)
    }

    func find(_ device: DeviceID) throws -> Stored? {
        try transaction.first("SELECT \(Self.columns) FROM device_attestations WHERE device_id = $1", [.id(device)])
            .map(Self.stored)
    }

    /// Whether the key of a certificate was attested, and the device is still trusted. The device's attestation alone is
    /// not enough: it may be that of a renewal which was never used.
    func isAttested(_ thumbprint: Digest256) throws -> Bool {
        try transaction.value(
            """
            SELECT COUNT(*) FROM certificates c JOIN device_attestations a ON a.device_id = c.device_id
            WHERE c.thumbprint = $1 AND c.attestation <> $2 AND a.level <> $2
            """, [thumbprint.value, DeviceAttestation.Level.unattested.value], as: Int.self) ?? 0 > 0
    }

    /// Raises the counter of a key of App Attest; `false` if it is not higher than the stored one, or the key is not stored.
    func raiseCounter(to counter: UInt32, of keyID: Digest256, on device: DeviceID) throws -> Bool {
        try transaction.execute(
            """
            UPDATE device_attestations SET counter = $1
            WHERE device_id = $2 AND key_id = $3 AND counter < $1
            """, [.integer(Int64(counter)), .id(device), keyID.value]) > 0
    }

    /// Android devices that were not compared with a list of a time, and the serial numbers of their chains. Devices that
    /// were distrusted already are left out.
    func listUnchecked(since time: Date, limit: Int) throws -> [(device: DeviceID, serials: [String])] {
        try transaction.query(
            """
            SELECT \(Self.chainColumns) FROM device_attestations
            WHERE serials IS NOT NULL AND distrusted_at IS NULL AND checked_at < $1 ORDER BY checked_at LIMIT $2
            """, [.time(time), limit.value]
        ).map { row in
            let (device, serials) = try Self.chainColumns.read(row)
            return (device, serials.split(separator: " ").map(String.init))
        }
    }

    /// Notes that a device was compared with a list.
    ///
    /// - Parameter changedAt: the time of that list. The time of the comparison may be later than a list that is stored
    ///   meanwhile, which the device would miss.
    func setChecked(_ device: DeviceID, withListOf changedAt: Date) throws {
        try transaction.enqueue(
            "UPDATE device_attestations SET checked_at = $2 WHERE device_id = $1", [.id(device), .time(changedAt)])
    }

    /// Takes the level from a device and its certificates.
    func distrust(_ device: DeviceID) throws {
        let none = DeviceAttestation.Level.unattested.value
        try transaction.enqueue(
            "UPDATE device_attestations SET level = $2, distrusted_at = $3 WHERE device_id = $1",
            [.id(device), none, .time(transaction.now)])
        try transaction.enqueue(
            "UPDATE certificates SET attestation = $2 WHERE device_id = $1", [.id(device), none])
    }

    /// Removes the attestation of a device whose key was replaced by one without.
    func remove(of device: DeviceID) throws {
        try transaction.execute("DELETE FROM device_attestations WHERE device_id = $1", [.id(device)])
    }

    // The apps of platforms, which are registered for a provider's apps.

    /// Inserts an app; `false` if it is registered for the provider's app already.
    func add(_ app: AttestedApp, for application: ApplicationID) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO attested_apps (\(Self.appColumns)) VALUES (\(Self.appColumns.placeholders))
            ON CONFLICT (application_id, app) DO NOTHING
            """, Self.appColumns.row(application, app)) > 0
    }

    /// The apps of a provider's app, in the order of their texts.
    func apps(of application: ApplicationID) throws -> [AttestedApp] {
        try transaction.values(
            "SELECT app FROM attested_apps WHERE application_id = $1 ORDER BY app", [.id(application)])
    }

    /// All apps. Devices belong to no provider when they are certified.
    func apps() throws -> [AttestedApp] {
        try transaction.values("SELECT DISTINCT app FROM attested_apps ORDER BY app")
    }

    /// Removes an app; `false` if it is not registered for the provider's app.
    func remove(_ app: AttestedApp, of application: ApplicationID) throws -> Bool {
        try transaction.execute(
            "DELETE FROM attested_apps WHERE application_id = $1 AND app = $2", [.id(application), app.value]) > 0
    }

    /// Whether keys of Android may be attested, for which the list of revoked certificates is needed.
    func hasAndroidApp() throws -> Bool {
        try apps().contains { app in
            if case .android = app { true } else { false }
        }
    }

    // Google's list of revoked certificates, as it was fetched. One node at a time claims a fetch.

    /// The times of the list; `nil` before the first fetch.
    func listTimes() throws -> ListTimes? {
        try transaction.first("SELECT \(Self.times) FROM attestation_lists WHERE id = 1 AND read_at > 0")
            .map { try Self.times.read($0) }
    }

    /// Why the last fetch failed; `nil` if it did not.
    func fetchFailure() throws -> String? {
        try transaction.value("SELECT failure FROM attestation_lists WHERE id = 1", as: String?.self) ?? nil
    }

    /// The list as it was fetched; empty before the first fetch.
    func list() throws -> [UInt8] {
        try transaction.value("SELECT document FROM attestation_lists WHERE id = 1") ?? []
    }

    /// Claims the next fetch; `false` if it is not due. A time in the future, from a clock that was set back, is ignored.
    func claimFetch() throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO attestation_lists (id, document, changed_at, read_at, attempted_at) VALUES (1, $4, 0, 0, $1)
            ON CONFLICT (id) DO UPDATE SET attempted_at = $1
            WHERE attestation_lists.attempted_at > $1
                OR (attestation_lists.failure IS NULL AND attestation_lists.attempted_at <= $2)
                OR (attestation_lists.failure IS NOT NULL AND attestation_lists.attempted_at <= $3)
            """,
            [
                .time(transaction.now), .time(transaction.now.addingTimeInterval(-Self.pause)),
                .time(transaction.now.addingTimeInterval(-Self.pauseAfterFailure)), .bytes([]),
            ]) > 0
    }

    /// Stores a list that was fetched. Devices are compared again only if its content is another one. Its time is later
    /// than that of the previous one, also after a clock was set back.
    func storeList(_ document: [UInt8]) throws {
        if try list() != document {
            try transaction.execute(
                """
                UPDATE attestation_lists SET document = $1,
                    changed_at = CASE WHEN changed_at < $2 THEN $2 ELSE changed_at + 1 END
                WHERE id = 1
                """, [.bytes(document), .time(transaction.now)])
        }
        try transaction.execute(
            "UPDATE attestation_lists SET read_at = $1, failure = NULL WHERE id = 1", [.time(transaction.now)])
    }

    /// Records why a fetch failed. The list of before stays.
    func failFetch(_ reason: String) throws {
        try transaction.execute("UPDATE attestation_lists SET failure = $1 WHERE id = 1", [.text(reason)])
    }

    private static let appColumns = ColumnTuple(Column<ApplicationID>("application_id"), Column<AttestedApp>("app"))
    private static let chainColumns = ColumnTuple(Column<DeviceID>("device_id"), Column<String>("serials"))

    /// A list may be stored between the verification and this, so each new chain is compared once more.
    private static let neverChecked = Date(timeIntervalSince1970: 0)
    private static let production = "production"
    private static let development = "development"

    private static func stored(_ row: Row) throws -> Stored {
        let (_, kind, level, app, _, key, counter, environment, serials, patchLevel, attestedAt, _) = try columns.read(
            row)
        let attestation: DeviceAttestation
        switch kind {
        case .appAttest:
            guard let key = try? PublicKey(subjectPublicKeyInfo: key ?? []) else { throw DamagedRow(column: 5) }
            attestation = .appAttest(
                key: key, app: app, isProduction: environment.map { $0.hasSameBytes(as: production) } ?? false)
        case .androidKey:
            attestation = .androidKey(
                level: level, app: app, patchLevel: patchLevel ?? 0,
                serials: (serials ?? "").split(separator: " ").map(String.init))
        }
        return (attestation, UInt32(clamping: counter ?? 0), attestedAt)
    }
}

extension DeviceAttestation.Kind: ColumnContent {}
extension DeviceAttestation.Level: ColumnContent {}

extension AttestedApp: ColumnContent {
    var value: Value { .text(text) }

    static func read(_ row: Row, _ index: Int) throws -> AttestedApp {
        guard let app = AttestedApp(text: try row.text(index)) else { throw DamagedRow(column: index) }
        return app
    }
}
