import Database
import Domain
import Encoding
import Foundation

/// The columns of `sessions`. `ended_at` and `end_reason` are written by the statement that ends a session.
///
/// The state is read as it is: of a session that a cut has ended, whether or not its row says so yet.
struct SessionColumns: ColumnSet {
    let id: Column<SessionID>
    let tokenHash: Column<Digest256>
    let userID: Column<UserID>
    let providerID: Column<ProviderID>
    let externalID: Column<String>
    let applicationID: Column<ApplicationID>
    let deviceID: Column<DeviceID>
    let thumbprint: Column<Digest256>
    let providerKeyID: Column<ProviderKeyID>
    let state: Column<SessionState>
    let createdAt: Column<Date>
    let renewedAt: Column<Date>
    let lastUsedAt: Column<Date>
    let challengedAt: Column<Date?>
    let userGeneration: Column<Int64>
    let deviceGeneration: Column<Int64>
    let providerGeneration: Column<Int64>
    let keyGeneration: Column<Int64>

    init(_ list: inout ColumnList) {
        id = list.add("id")
        tokenHash = list.add("token_hash")
        userID = list.add("user_id")
        providerID = list.add("provider_id")
        externalID = list.add("external_id")
        applicationID = list.add("application_id")
        deviceID = list.add("device_id")
        thumbprint = list.add("thumbprint")
        providerKeyID = list.add("provider_key_id")
        state = list.add("state", of: "sessions") { table in
            let ended = SessionState.unauthenticated.rawValue
            return "CASE WHEN \(GateRepository.isCurrent(table)) THEN \(table).state ELSE '\(ended)' END"
        }
        createdAt = list.add("created_at")
        renewedAt = list.add("renewed_at")
        lastUsedAt = list.add("last_used_at")
        challengedAt = list.add("challenged_at")
        userGeneration = list.addWritten("user_generation")
        deviceGeneration = list.addWritten("device_generation")
        providerGeneration = list.addWritten("provider_generation")
        keyGeneration = list.addWritten("key_generation")
    }

    func session(_ row: Row) throws -> Session {
        Session(
            id: try row[id], tokenHash: try row[tokenHash], userID: try row[userID], providerID: try row[providerID],
            externalID: try row[externalID], applicationID: try row[applicationID], deviceID: try row[deviceID],
            thumbprint: try row[thumbprint], providerKeyID: try row[providerKeyID], state: try row[state],
            createdAt: try row[createdAt], renewedAt: try row[renewedAt], lastUsedAt: try row[lastUsedAt],
            challengedAt: try row[challengedAt])
    }

    func write(_ session: Session, _ generations: SessionGenerations, to row: inout NewRow) {
        row.set(id, session.id)
        row.set(tokenHash, session.tokenHash)
        row.set(userID, session.userID)
        row.set(providerID, session.providerID)
        row.set(externalID, session.externalID)
        row.set(applicationID, session.applicationID)
        row.set(deviceID, session.deviceID)
        row.set(thumbprint, session.thumbprint)
        row.set(providerKeyID, session.providerKeyID)
        row.set(state, session.state)
        row.set(createdAt, session.createdAt)
        row.set(renewedAt, session.renewedAt)
        row.set(lastUsedAt, session.lastUsedAt)
        row.set(challengedAt, session.challengedAt)
        row.set(userGeneration, generations.user)
        row.set(deviceGeneration, generations.device)
        row.set(providerGeneration, generations.provider)
        row.set(keyGeneration, generations.key)
    }
}
