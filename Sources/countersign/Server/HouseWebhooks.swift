import API
import Domain
import Operations

/// The part of the house that tells providers what happens to their users, and hears them.
extension House {
    func webhookRoutes() -> WebhookRoutes {
        WebhookRoutes(
            authenticate: AuthenticateProvider(
                realm: settings.realm, store: store, providers: providers, watch: watch, policy: policy,
                surroundings: surroundings),
            webhook: ManageWebhook(
                store: store, allowingLoopback: settings.allowsLoopbackURLs, surroundings: surroundings),
            receive: ReceiveProviderEvent(
                realm: settings.realm, store: store, providers: providers, sessions: sessions, watch: watch,
                policy: policy, surroundings: surroundings),
            policy: policy)
    }
}
