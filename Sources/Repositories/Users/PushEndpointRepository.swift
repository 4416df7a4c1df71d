import Database
import Domain
import Foundation

/// The push endpoints of users' devices, one row a device, sealed under the user's key.
///
/// A row has the generations of the session that registered it. A bulk revocation that ends the session, such as for a
/// ban, a revoked device or a leaked key, thereby silences the endpoint. The end of a single session deletes the row:
/// see `SessionRepository`.
package struct PushEndpointRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys
}

package extension PushEndpointRepository {
    init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    /// The endpoints of a device, as their user registered them.
    struct Registration: Sendable, Confidential {
        package let device: DeviceID
        package let endpoints: PushEndpoints
        package let registeredAt: Date
    }

    private static let columns = ColumnTuple(
        Column<UserID>("user_id"), Column<DeviceID>("device_id"), Column<ProviderID>("provider_id"),
        Column<ProviderKeyID>("provider_key_id"), Column<ApplicationID>("application_id"),
        Column<[UInt8]?>(.pushEndpoint), Column<[UInt8]?>(.callEndpoint), Column<Date>("registered_at"),
        Column<Int64>("user_generation"), Column<Int64>("device_generation"),
        Column<Int64>("provider_generation"), Column<Int64>("key_generation"))
    private static let listed = ColumnTuple(
        Column<DeviceID>("device_id"), Column<[UInt8]?>(.pushEndpoint), Column<[UInt8]?>(.callEndpoint),
        Column<Date>("registered_at"))
    private static let generations = ColumnTuple(
        Column<Int64>("user_generation"), Column<Int64>("device_generation"), Column<Int64>("provider_generation"),
        Column<Int64>("key_generation"))
    private static let isCurrent = GenerationRepository.isCurrent("push_endpoints")

    /// The devices of a user that have an endpoint for a purpose, without opening sealed data. Devices whose sessions a
    /// bulk revocation has ended are included: ``find(_:on:)`` excludes them when the push is sent.
    func devices(of user: UserID, for purpose: PushEndpoints.Purpose = .usual) throws -> [DeviceID] {
        try transaction.values(
            """
            SELECT device_id FROM push_endpoints WHERE user_id = $1\(Self.condition(purpose)) ORDER BY device_id
            """, [.id(user)])
    }

    private static func condition(_ purpose: PushEndpoints.Purpose) -> String {
        purpose == .usual ? " AND \(SealedColumn.pushEndpoint.name) IS NOT NULL" : ""
    }

    /// The endpoints of a device; `nil` if there are none, or a bulk revocation has silenced them.
    func find(_ user: UserID, on device: DeviceID) throws -> PushEndpoints? {
        try list("user_id = $1 AND device_id = $2 AND \(Self.isCurrent)", [.id(user), .id(device)], of: user)
            .first?.endpoints
    }

    /// The endpoints of a user's devices, the newest registration first.
    func list(of user: UserID) throws -> [Registration] {
        try list("user_id = $1 AND \(Self.isCurrent)", [.id(user)], of: user)
    }

    private func list(_ condition: String, _ arguments: [Value], of user: UserID) throws -> [Registration] {
        let rows = try transaction.query(
            """
            SELECT \(Self.listed) FROM push_endpoints WHERE \(condition) ORDER BY registered_at DESC, device_id
            """, arguments)
        guard !rows.isEmpty, let key = try DataKeyRepository(transaction, keys: keys).find(user) else { return [] }
        return try rows.compactMap { row in
            let (device, usual, calls, registeredAt) = try Self.listed.read(row)
            let endpoints = PushEndpoints(
                usual: try usual.map { try key.open($0, in: .pushEndpoint, of: device) },
                calls: try calls.map { try key.open($0, in: .callEndpoint, of: device) })
            return endpoints.map { Registration(device: device, endpoints: $0, registeredAt: registeredAt) }
        }
    }

    /// Registers the endpoints of a session's device.
    ///
    /// Other devices of the user lose the same endpoint, and users without a session on this device lose theirs: the
    /// device has passed to another person. Silenced endpoints are deleted, and so are the oldest ones above the limit.
    ///
    /// - Parameters:
    ///   - limit: the largest number of devices of a user.
    ///   - expired: sessions that were renewed before have expired.
    func register(
        _ endpoints: PushEndpoints, by session: Session, limit: Int, sessionsExpiredBefore expired: Date
    ) throws {
        let (user, device) = (session.userID, session.deviceID)
        // A log-out at the same time sees the mark in the row, or this transaction fails.
        let row = try transaction.first(
            "UPDATE sessions SET has_endpoint = 1 WHERE id = $1 RETURNING \(Self.generations)", [.id(session.id)])
        guard let row else { return }
        let (userGeneration, deviceGeneration, providerGeneration, keyGeneration) = try Self.generations.read(row)
        try transaction.execute(
            "DELETE FROM push_endpoints WHERE user_id = $1 AND NOT (\(Self.isCurrent))", [.id(user)])
        try transaction.execute(
            """
            DELETE FROM push_endpoints WHERE device_id = $1 AND user_id <> $2 AND NOT EXISTS (
                SELECT 1 FROM sessions s WHERE s.user_id = push_endpoints.user_id AND s.device_id = $1
                    AND s.state <> 'unauthenticated' AND s.renewed_at > $3 AND \(GenerationRepository.isCurrent("s")))
            """, [.id(device), .id(user), .time(expired)])
        let others = try list(of: user).filter { $0.device != device }
        let kept = others.filter { !$0.endpoints.overlaps(endpoints) }.prefix(max(0, limit - 1)).map(\.device)
        for other in others where !kept.contains(other.device) { try delete(user, on: other.device) }
        let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(user)
        try transaction.execute(
            """
            INSERT INTO push_endpoints (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (user_id, device_id) DO UPDATE SET
                provider_key_id = excluded.provider_key_id, application_id = excluded.application_id,
                sealed_endpoint = excluded.sealed_endpoint,
                sealed_call_endpoint = excluded.sealed_call_endpoint, registered_at = excluded.registered_at,
                user_generation = excluded.user_generation, device_generation = excluded.device_generation,
                provider_generation = excluded.provider_generation, key_generation = excluded.key_generation
            """,
            Self.columns.row(
                user, device, session.providerID, session.providerKeyID, session.applicationID,
                try endpoints.usual.map { try key.seal($0, in: .pushEndpoint, of: device) },
                try endpoints.calls.map { try key.seal($0, in: .callEndpoint, of: device) }, transaction.now,
                userGeneration, deviceGeneration, providerGeneration, keyGeneration))
    }

    /// Removes the endpoints of a device.
    func delete(_ user: UserID, on device: DeviceID) throws {
        try transaction.execute(
            "DELETE FROM push_endpoints WHERE user_id = $1 AND device_id = $2", [.id(user), .id(device)])
    }

    /// Removes an endpoint that the carrier reported as deleted; `false` if the device has registered another one since.
    func drop(_ arn: String, of user: UserID, on device: DeviceID) throws -> Bool {
        _ = try transaction.query(
            "SELECT 1 FROM push_endpoints WHERE user_id = $1 AND device_id = $2\(transaction.lockingRows)",
            [.id(user), .id(device)])
        guard let found = try find(user, on: device), found.usual == arn || found.calls == arn else { return false }
        guard let left = found.without(arn) else {
            try delete(user, on: device)
            return true
        }
        let column = left.usual == nil ? SealedColumn.pushEndpoint : .callEndpoint
        try transaction.execute(
            "UPDATE push_endpoints SET \(column.name) = NULL WHERE user_id = $1 AND device_id = $2",
            [.id(user), .id(device)])
        return true
    }

    /// Removes the endpoints of all of a user's devices.
    func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM push_endpoints WHERE user_id = $1", [.id(user)])
    }

    private static let old = AgedRows(of: "push_endpoints", key: "user_id, device_id", age: "registered_at")

    /// Deletes the endpoints that no app has registered again since a time.
    static func purge(
        registeredBefore moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch(), in transaction: any Transaction
    ) throws -> MaintenanceBatch.Outcome {
        try old.take(before: moment, batch, in: transaction)
    }
}
