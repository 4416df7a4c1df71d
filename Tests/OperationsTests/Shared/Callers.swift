import Database
import Domain
import Foundation
import Operations
import Repositories

/// What reviewers do.
struct ReviewCalls {
    let list: ListCardsInReview
    let show: ReadCardInReview
    private let decide: DecideCardReview

    init(_ context: Administration, keys: PersonalKeys) {
        list = ListCardsInReview(context)
        show = ReadCardInReview(context, keys: keys)
        decide = DecideCardReview(context, keys: keys)
    }

    func approve(_ id: IdentityCardID, reason: String) async throws { try await decide.approve(id, reason: reason) }

    func reject(_ id: IdentityCardID, reason: String) async throws { try await decide.reject(id, reason: reason) }
}
