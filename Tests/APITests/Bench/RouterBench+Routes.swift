import Domain
import Encoding
import Fixtures
import Operations

@testable import API

/// The operations behind each group of routes.
extension RouterBench {
    static func providerRoutes(_ fixture: ServiceFixture) -> ProviderRoutes {
        ProviderRoutes(
            authenticate: fixture.authenticate, keys: fixture.providerKeys, serve: fixture.serve,
            policy: fixture.policy, realm: ServiceFixture.realm)
    }

    static func webhookRoutes(_ fixture: ServiceFixture) -> WebhookRoutes {
        WebhookRoutes(
            authenticate: fixture.authenticate, webhook: fixture.webhook, receive: fixture.receive,
            policy: fixture.policy)
    }

    static func discoveryRoutes(_ fixture: ServiceFixture) -> DiscoveryRoutes {
        DiscoveryRoutes(
            realm: ServiceFixture.realm, publicURL: { "https://public.example" },
            clientURL: { "https://client.example" },
            pins: { ["one", "two"] }, webKeys: .object([JSONMember(name: "kid", value: .string("key"))]),
            rateLimiting: .on, policy: fixture.policy)
    }

    static func sessionRoutes(_ fixture: ServiceFixture) -> SessionRoutes {
        SessionRoutes(
            issueNonce: fixture.nonces, open: fixture.open, check: fixture.check, resume: fixture.resume,
            renew: fixture.renew, end: fixture.end, policy: fixture.policy, realm: ServiceFixture.realm)
    }

    static func phoneRoutes(
        _ fixture: ServiceFixture, _ codes: PhoneCodeKeys, _ environment: Environment
    ) -> PhoneRoutes {
        let signal = OutboxSignal()
        return PhoneRoutes(
            start: StartPhoneVerification(
                store: fixture.store, keys: fixture.personalKeys, codes: codes,
                nonceKey: NonceKey(Secret([UInt8](repeating: 1, count: 32))), outbox: signal, policy: fixture.policy,
                rateLimiting: .on, environment: environment),
            check: CheckPhoneVerification(
                store: fixture.store, keys: fixture.personalKeys, codes: codes, policy: fixture.policy,
                environment: environment),
            resend: ResendPhoneCode(
                store: fixture.store, keys: fixture.personalKeys, outbox: signal, policy: fixture.policy,
                rateLimiting: .on, environment: environment), policy: fixture.policy)
    }

    static func authorizationRoutes(_ fixture: ServiceFixture, _ environment: Environment) -> AuthorizationRoutes {
        let signal = OutboxSignal()
        return AuthorizationRoutes(
            ask: RequestPermission(
                store: fixture.store, keys: fixture.personalKeys, providers: fixture.providers, outbox: signal,
                policy: fixture.policy, rateLimiting: .on, environment: environment),
            answer: AnswerAuthorization(
                store: fixture.store, keys: fixture.personalKeys, outbox: signal, policy: fixture.policy,
                environment: environment),
            read: ReadAuthorizations(store: fixture.store, keys: fixture.personalKeys, policy: fixture.policy),
            block: BlockUser(store: fixture.store), policy: fixture.policy)
    }
}
