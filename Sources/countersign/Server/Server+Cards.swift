import API
import Delivery
import Domain
import Foundation
import Operations

/// The part of the server that knows people: cards, and what users see of themselves.
extension Server {
    /// - Throws: ``CommandFailure`` where the issuer's service is named and cannot be used.
    func cardRoutes() throws -> CardRoutes {
        let issuer: IssuerCheck?
        do {
            issuer = try IssuerCheck(
                policy[\.cards],
                secret: { try KeyFile(path: "\(settings.keys)/\($0)", isPrivate: true).read() },
                http: deliveryHTTPClient,
                now: environment.now)
        } catch let error as DeliveryError {
            throw CommandFailure(error.description)
        }
        var askIssuer: SubmitCard.AskIssuer?
        if let issuer { askIssuer = { facts in await issuer(facts) } }
        return CardRoutes(
            submit: SubmitCard(
                store: store, keys: keys.personal, askIssuer: askIssuer, policy: policy, environment: environment),
            policy: policy)
    }

    /// Who refuses banned users at sign-in, and admits them to their own data.
    var bans: RefuseBanned { RefuseBanned(key: exportKey) }

    func userRoutes() -> UserRoutes {
        UserRoutes(
            serve: ServeUser(
                store: store, keys: keys.personal, providers: providers, bans: bans, sessions: sessions,
                policy: policy, environment: environment),
            policy: policy)
    }

    func authorizationRoutes(_ rateLimiting: RateLimiting) -> AuthorizationRoutes {
        AuthorizationRoutes(
            ask: RequestPermission(
                store: store, keys: keys.personal, providers: providers, outbox: outboxSignal, policy: policy,
                rateLimiting: rateLimiting, environment: environment),
            answer: AnswerAuthorization(
                store: store, keys: keys.personal, outbox: outboxSignal, policy: policy, environment: environment),
            read: ReadAuthorizations(store: store, keys: keys.personal, policy: policy),
            block: BlockUser(store: store), policy: policy)
    }
}
