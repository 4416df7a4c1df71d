import Database
import Domain
import Foundation
import Repositories

/// Changes an authorization together with the others of its two users, so that they have one permission at most.
struct AuthorizationPair {
    private let records: AuthorizationRepository
    private let transaction: any Transaction
    private let pushes: PushAuthorizations

    init(_ service: Service, in transaction: any Transaction) {
        self.transaction = transaction
        records = AuthorizationRepository(transaction)
        pushes = service.authorizationPushes
    }

    /// Moves an authorization, and ends those of the same two users that end with it.
    ///
    /// - Throws: `Refusal` `conflict` with the state that forbids it, `gone` after its time.
    func move(
        _ found: MessagingPermission, on event: MessagingPermission.State.Event, _ events: inout RecordedEvents
    ) throws {
        let now = transaction.now
        guard let moved = try found.after(event, now: now) else { return }
        var changes = [(before: found, after: moved)]
        if let requester = found.requesterID, let recipient = found.recipientID {
            for other in try records.storedOpen(between: requester, and: recipient) where other.id != found.id {
                if let ended = other.after(event, of: found, now: now) {
                    changes.append((other, ended))
                } else if !other.state.isOpen {
                    // The unique index compares stored states.
                    try records.follow(other)
                }
            }
        }
        // In the order of their ids, so that two transactions do not wait for each other.
        for (before, after) in changes.sorted(by: { $0.before.id.description < $1.before.id.description }) {
            guard try records.move(after, from: before.state) else {
                let state = try records.find(before.id)?.state(now: now)
                throw Refusal.authorizationChanged(state: (state ?? .cancelled).rawValue)
            }
            try pushes.queue(AuthorizationRow(of: after), of: after, in: transaction, &events)
        }
        if changes.contains(where: { $0.before.state == .approval }) {
            events.record(.presenceChanged(of: [found.requesterID, found.recipientID].compactMap(\.self)))
        }
    }

    /// Ends what one user permits another: permissions, and the user's own requests. Requests of the other user
    /// disappear for this user and continue for their requester.
    func withdraw(_ user: UserID, from other: UserID, _ events: inout RecordedEvents) throws {
        try records.hideRequests(askedBy: other, from: user)
        for authorization in try records.storedOpen(between: user, and: other) {
            let state = authorization.state(now: transaction.now)
            guard state == .approval || state == .request && authorization.requesterID == user else { continue }
            let box: MessagingPermission.Box = authorization.requesterID == user ? .outgoing : .incoming
            try move(authorization, on: box.cancellation, &events)
        }
    }
}

extension MessagingPermission.Box {
    /// The cancellation by the user on this side.
    var cancellation: MessagingPermission.State.Event {
        switch self {
        case .incoming: .cancelByRecipient
        case .outgoing: .cancelByRequester
        }
    }
}
