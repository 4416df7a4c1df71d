import Database
import Domain
import Repositories

/// The texts of a request by the requester's app, sealed under the requester's key.
struct SealedRequest: Sendable, Equatable, Confidential {
    let to: String
    let eventID: String?

    /// Compares bytes, because names that are equivalent in Unicode may be those of two users.
    static func == (one: SealedRequest, other: SealedRequest) -> Bool {
        func bytes(_ request: SealedRequest) -> [[UInt8]?] {
            [Array(request.to.utf8), request.eventID.map { Array($0.utf8) }]
        }
        return bytes(one) == bytes(other)
    }

    /// Opens a sealed request; `nil` if the requester's key was deleted.
    static func open(
        _ authorization: MessagingPermission, of requester: UserID, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> SealedRequest? {
        guard let key = try DataKeyRepository(transaction, keys: keys).find(requester),
            let sealedTo = authorization.sealedTo
        else { return nil }
        return SealedRequest(
            to: try key.open(sealedTo, in: .authorizationTo, of: authorization.id),
            eventID: try authorization.sealedEvent.map {
                try key.open($0, in: .authorizationEvent, of: authorization.id)
            })
    }

    /// The sealed form for a row.
    func seal(
        _ id: AuthorizationID, of requester: UserID, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> (to: [UInt8], event: [UInt8]?) {
        let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(requester)
        return (
            try key.seal(to, in: .authorizationTo, of: id),
            try eventID.map { try key.seal($0, in: .authorizationEvent, of: id) }
        )
    }
}
