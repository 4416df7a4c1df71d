import Database
import Domain
import Encoding
import Foundation

/// What the makers of devices attested. Receipts and identifiers of devices are never stored.
package struct DeviceAttestationRepository {
    private let transaction: any Transaction

    private static let columns = ColumnTuple(
        Column<DeviceID>("device_id"), Column<DeviceAttestation.Kind>("kind"),
        Column<DeviceAttestation.Level>("level"), Column<AttestedApp>("app"), Column<Digest256?>("key_id"),
        Column<[UInt8]?>("public_key"), Column<Int64?>("counter"), Column<String?>("environment"),
        Column<String?>("serials"), Column<Int?>("patch_level"), Column<Date>("attested_at"))
}

package extension DeviceAttestationRepository {
    /// An attestation as it is stored, and the counter of the last assertion of App Attest.
    typealias Stored = (attestation: DeviceAttestation, counter: UInt32, attestedAt: Date)

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
                    isProduction ? Self.production : Self.development, nil, nil, transaction.now)
            case .androidKey(let level, let app, let patchLevel, let serials):
                Self.columns.row(
                    device, attestation.kind, level, app, nil, nil, nil, nil, serials.joined(separator: " "),
                    patchLevel, transaction.now)
            }
        try transaction.execute(
            "INSERT INTO device_attestations (\(Self.columns)) VALUES (\(Self.columns.placeholders))", row)
    }

    func find(_ device: DeviceID) throws -> Stored? {
        try transaction.first("SELECT \(Self.columns) FROM device_attestations WHERE device_id = $1", [.id(device)])
            .map(Self.stored)
    }

    /// What was attested about the key of a device.
    func level(of device: DeviceID) throws -> DeviceAttestation.Level {
        try transaction.value("SELECT level FROM device_attestations WHERE device_id = $1", [.id(device)])
            ?? .unattested
    }

    /// Raises the counter of a key of App Attest; `false` if it is not higher than the stored one, or the key is not stored.
    func raiseCounter(to counter: UInt32, of keyID: Digest256, on device: DeviceID) throws -> Bool {
        try transaction.execute(
            """
            UPDATE device_attestations SET counter = $1
            WHERE device_id = $2 AND key_id = $3 AND counter < $1
            """, [.integer(Int64(counter)), .id(device), keyID.value]) > 0
    }

    /// Removes the attestation of a device whose key was replaced by one without.
    func remove(of device: DeviceID) throws {
        try transaction.execute("DELETE FROM device_attestations WHERE device_id = $1", [.id(device)])
    }

    private static let production = "production"
    private static let development = "development"

    private static func stored(_ row: Row) throws -> Stored {
        let (_, kind, level, app, _, key, counter, environment, serials, patchLevel, attestedAt) = try columns.read(row)
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
