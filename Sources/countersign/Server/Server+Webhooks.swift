import API
import Domain
import Operations

/// The part of the server that tells providers what happens to their users, and hears them.
extension Server {
    func webhookRoutes() -> WebhookRoutes {
        WebhookRoutes(
            authenticate: AuthenticateProvider(
                realm: settings.realm, store: store, providers: providers, watch: watch, policy: policy,
                environment: environment),
            webhook: ManageWebhook(
                store: store, allowingLoopback: settings.allowsLoopbackURLs, environment: environment),
            receive: ReceiveProviderEvent(
                realm: settings.realm, store: store, providers: providers, sessions: sessions, watch: watch,
                policy: policy, environment: environment),
            policy: policy)
    }
}
