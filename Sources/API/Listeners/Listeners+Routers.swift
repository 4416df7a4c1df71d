import Hummingbird
import Operations

/// The routers of the listeners, with the middleware that all routes share.
extension Listeners {
    /// A router with the shared middleware and no routes yet.
    func router<Context: ListenerContext>(_ context: Context.Type, _ listener: ListenerName) -> ListedRouter<Context> {
        ListedRouter(context, listener: listener, directory: directory) { [service] in
            try service.count($0, by: $1)
        }
    }

    func publicRouter(
        certificates: CertificateRoutes, providers: ProviderRoutes, tokens: TokenRoutes, webhooks: WebhookRoutes,
        sharedSignals: SharedSignalsRoutes, discovery: DiscoveryRoutes, metadata: MetadataRoutes
    ) -> Router<PublicContext> {
        let router = router(PublicContext.self, .public)
        router.add(middleware: ErrorResponseMiddleware(face: face(.public), policy: service.policy))
        certificates.addPublic(to: router)
        providers.add(to: router)
        tokens.addPublic(to: router)
        webhooks.add(to: router)
        sharedSignals.add(to: router)
        discovery.add(to: router)
        metadata.addPublic(to: router)
        ProblemRoutes(face: face(.public)).add(to: router)
        return router.router
    }

    func clientRouter(
        certificates: CertificateRoutes, metadata: MetadataRoutes,
        tokens: TokenRoutes, sessions: SessionRoutes,
        phones: PhoneRoutes,
        cards: CardRoutes, users: UserRoutes, authorizations: AuthorizationRoutes, streams: MessageStreamRoutes
    ) -> Router<ClientContext> {
        let router = router(ClientContext.self, .client)
        router.add(
            middleware: ErrorResponseMiddleware(face: face(.client), policy: service.policy) { [service] context in
                context.current.map { service.issueNonce($0) }
            })
        router.add(middleware: RequireCertificate(service: service))
        certificates.addClient(to: router)
        metadata.addClient(to: router)
        tokens.addClient(to: router)
        sessions.add(to: router)
        let behind = RequireSession(service, allowsIdentityToken: true)
        phones.add(to: router, behind: behind)
        cards.add(to: router, behind: behind)
        users.add(to: router, behind: behind)
        authorizations.add(to: router, behind: behind)
        streams.add(to: router, behind: behind)
        return router.router
    }

    func opsRouter(_ routes: OpsRoutes) -> Router<PublicContext> {
        let router = router(PublicContext.self, .ops)
        router.add(middleware: ErrorResponseMiddleware(face: face(.ops), policy: service.policy))
        routes.add(to: router)
        return router.router
    }
}
