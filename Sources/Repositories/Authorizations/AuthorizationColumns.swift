import Database
import Domain
import Encoding
import Foundation

/// The columns of `authorizations`.
struct AuthorizationColumns: ColumnSet {
    let id: Column<AuthorizationID>
    let providerID: Column<ProviderID>
    let requesterID: Column<UserID?>
    let recipientID: Column<UserID?>
    let target: Column<Digest256>
    let isDelivered: Column<Bool>
    let state: Column<MessagingPermissionState>
    let createdAt: Column<Date>
    let expiresAt: Column<Date>
    let changedAt: Column<Date>
    let sealedTo: Column<[UInt8]?>
    let sealedEvent: Column<[UInt8]?>

    init(_ list: inout ColumnList) {
        id = list.add("id")
        providerID = list.add("provider_id")
        requesterID = list.add("asker_id")
        recipientID = list.add("accepter_id")
        target = list.add("target")
        isDelivered = list.add("is_delivered")
        state = list.add("state", of: "authorizations", readAs: PermissionCutRepository.state)
        createdAt = list.add("created_at")
        expiresAt = list.add("expires_at")
        changedAt = list.add("changed_at")
        sealedTo = list.add(.authorizationTo)
        sealedEvent = list.add(.authorizationEvent)
    }

    func authorization(_ row: Row) throws -> MessagingPermission {
        MessagingPermission(
            id: try row[id], providerID: try row[providerID], requesterID: try row[requesterID],
            recipientID: try row[recipientID], target: try row[target], isDelivered: try row[isDelivered],
            state: try row[state], createdAt: try row[createdAt], expiresAt: try row[expiresAt],
            changedAt: try row[changedAt], sealedTo: try row[sealedTo], sealedEvent: try row[sealedEvent])
    }

    func write(_ authorization: MessagingPermission, to row: inout NewRow) {
        row.set(id, authorization.id)
        row.set(providerID, authorization.providerID)
        row.set(requesterID, authorization.requesterID)
        row.set(recipientID, authorization.recipientID)
        row.set(target, authorization.target)
        row.set(isDelivered, authorization.isDelivered)
        row.set(state, authorization.state)
        row.set(createdAt, authorization.createdAt)
        row.set(expiresAt, authorization.expiresAt)
        row.set(changedAt, authorization.changedAt)
        row.set(sealedTo, authorization.sealedTo)
        row.set(sealedEvent, authorization.sealedEvent)
    }
}
