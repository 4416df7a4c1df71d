import Database
import Domain
import Repositories

/// What the asking app wrote of a request, sealed under the requester's key.
struct SealedRequest: Sendable, Equatable, Confidential {
    let to: String
    let eventID: String?

    /// By bytes: names that Unicode calls equivalent are those of two users.
    static func == (one: SealedRequest, other: SealedRequest) -> Bool {
        func bytes(_ request: SealedRequest) -> [[UInt8]?] {
            [Array(request.to.utf8), request.eventID.map { Array($0.utf8) }]
        }
        return bytes(one) == bytes(other)
    }

    /// Opens it; `nil` where the requester's key is gone.
    static func open(
        _ authorization: Authorization, of requester: UserID, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> SealedRequest? {
        guard let key = try DataKeyRepository(transaction, keys: keys).find(requester),
            let sealedTo = authorization.sealedTo
        else { return nil }
        func open(_ sealed: [UInt8], _ column: String) throws -> String {
            try key.open(
                sealed, table: AuthorizationRepository.table, column: column, row: authorization.id.description)
        }
        return SealedRequest(
            to: try open(sealedTo, "sealed_to"),
            eventID: try authorization.sealedEvent.map { try open($0, "sealed_event") })
    }

    /// Seals it for a row.
    func seal(
        _ id: AuthorizationID, of requester: UserID, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> (to: [UInt8], event: [UInt8]?) {
        let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(requester, at: transaction.now)
        func seal(_ text: String, _ column: String) throws -> [UInt8] {
            try key.seal(text, table: AuthorizationRepository.table, column: column, row: id.description)
        }
        return (try seal(to, "sealed_to"), try eventID.map { try seal($0, "sealed_event") })
    }
}
