import API
import Foundation
import Identity
import Operations

/// The part of the house that knows people: cards, and what users see of themselves.
extension House {
    func cardRoutes() -> CardRoutes {
        CardRoutes(
            submit: SubmitCard(
                store: store, keys: keys.personal, askIssuer: nil, policy: policy, surroundings: surroundings),
            policy: policy)
    }

    func userRoutes() -> UserRoutes {
        UserRoutes(
            serve: ServeUser(
                store: store, keys: keys.personal, providers: providers, sessions: sessions, policy: policy,
                surroundings: surroundings),
            policy: policy)
    }
}
