import Database
import Domain
import Foundation
import Operations
import Repositories

/// What admins do to users.
struct UserAdministration {
    let find: ReadUsers
    let export: ExportUser
    let erase: EraseNamedUser
    let challenge: ChallengeUser

    init(_ context: AdminContext, keys: PersonalKeys) {
        find = ReadUsers(context)
        export = ExportUser(context, keys: keys)
        erase = EraseNamedUser(context, keys: keys)
        challenge = ChallengeUser(context)
    }
}

/// What reviewers do.
struct ReviewCalls {
    let list: ListCardsInReview
    let show: ReadCardInReview
    private let decide: DecideCardReview

    init(_ context: AdminContext, keys: PersonalKeys) {
        list = ListCardsInReview(context)
        show = ReadCardInReview(context, keys: keys)
        decide = DecideCardReview(context, keys: keys)
    }

    func approve(_ id: IdentityCardID, reason: String) async throws { try await decide.approve(id, reason: reason) }

    func reject(_ id: IdentityCardID, reason: String) async throws { try await decide.reject(id, reason: reason) }
}

/// What admins do to the outbox.
struct OutboxCalls {
    let list: ListOutbox
    let retry: RetryMessage
    let drop: DropMessage

    init(_ context: AdminContext) {
        list = ListOutbox(context)
        retry = RetryMessage(context)
        drop = DropMessage(context)
    }
}

/// What admins see of bans.
struct BanCalls {
    let list: ListBans
    let show: ReadBan
    let history: ReadBanHistory

    init(_ context: AdminContext, keys: PersonalKeys) {
        list = ListBans(context)
        show = ReadBan(context, keys: keys)
        history = ReadBanHistory(context, keys: keys)
    }
}
