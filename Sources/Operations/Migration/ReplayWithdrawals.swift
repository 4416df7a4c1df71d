import Database
import Domain
import Foundation
import Repositories

/// Repeats what users have revoked since a copy of the store was made: permissions, memberships of streams, findable
/// addresses, allowed apps, the storage of messages and the presence. It also adds the blocks that they made.
struct ReplayWithdrawals: Sendable {
    private let permissions: [(id: AuthorizationID, state: MessagingPermission.State)]
    private let blocks: [WithdrawalRepository.Block]
    private let members: [(user: UserID, stream: MessageStreamID, leftAt: Int64)]
    private let findable: Set<WithdrawalRepository.FindableAddressKey>
    private let forbiddenApps: [ForbiddenAppRepository.Entry]
    private let storageDeclined: [UserID]
    private let hidden: [UserID]

    /// Reads the permissions, memberships, addresses, apps, settings and blocks of the replaced store.
    init(of transaction: any Transaction) throws {
        let records = WithdrawalRepository(transaction)
        permissions = try records.endedPermissions()
        blocks = try records.blocks()
        members = try records.formerMembers()
        findable = try records.findableAddresses()
        forbiddenApps = try ForbiddenAppRepository(transaction).all()
        storageDeclined = try MessageStorageRepository(transaction).declined()
        hidden = try PresenceRepository(transaction).hidden()
    }

    /// Writes into the copy. Permissions that users gave since the copy are lost, so they are requested again.
    ///
    /// - Returns: how many permissions, memberships, addresses, apps, settings and blocks changed.
    func callAsFunction(in transaction: any Transaction) throws -> Int {
        let records = WithdrawalRepository(transaction)
        var count = 0
        for (id, state) in permissions where try records.end(id, as: state) { count += 1 }
        for block in blocks where try records.insert(block) { count += 1 }
        for (user, stream, last) in members where try records.remove(user, from: stream, at: last) { count += 1 }
        let addresses = FindableAddressRepository(transaction)
        for hidden in try records.findableAddresses().subtracting(findable) {
            try addresses.delete(hidden.type, of: hidden.user)
            count += 1
        }
        for user in storageDeclined where try UserRepository(transaction).find(user) != nil {
            let isNew = try MessageStorageRepository(transaction).set(.untilDelivered, of: user, at: transaction.now)
            if isNew { count += 1 }
        }
        for entry in forbiddenApps where try ForbiddenAppRepository(transaction).insert(entry) { count += 1 }
        let presences = PresenceRepository(transaction)
        for user in hidden where try UserRepository(transaction).find(user) != nil {
            guard try presences.visibility(of: user) == .visible else { continue }
            try presences.set(.hidden, of: user)
            count += 1
        }
        return count
    }
}
