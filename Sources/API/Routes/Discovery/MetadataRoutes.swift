import Domain
import Encoding
import HTTPTypes
import Hummingbird
import NIOCore
import Operations

/// The metadata of the service for OAuth clients: the authorization server on the public listener, and the protected
/// resource on the client listener.
struct MetadataRoutes: Sendable {
    let urls: ServiceURLs
    private let server = LatestBuffer()
    private let resource = LatestBuffer()

    func addPublic(to router: ListedRouter<PublicContext>) {
        let use: ListedRouter<PublicContext>.Handler = { _, _ in describeServer() }
        let router = router.ignoringUnknownParameters
        router.get(".well-known/oauth-authorization-server", cost: .free, describing: { urls.issuer }, use: use)
    }

    func addClient(to router: ListedRouter<ClientContext>) {
        let use: ListedRouter<ClientContext>.Handler = { _, _ in describeResource() }
        let router = router.ignoringUnknownParameters
        router.get(".well-known/oauth-protected-resource", cost: .free, describing: { urls.client }, use: use)
    }

    /// The metadata of RFC 8414 §2, and the endpoint with mutual TLS of RFC 8705 §5. `response_types_supported` is
    /// required although there is no authorization endpoint, and some clients require that it is not empty.
    private func describeServer() -> Response {
        let issuer = urls.issuer
        let methods = Self.texts(["private_key_jwt"])
        // Ed25519 is the newer name of EdDSA with this curve (RFC 9864).
        let algorithms = Self.texts(["RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519"])
        return Self.answer(
            server,
            [
                "issuer": .string(issuer), "token_endpoint": .string(urls.tokenEndpoint),
                "mtls_endpoint_aliases": .object(["token_endpoint": .string(urls.clientTokenEndpoint)]),
                "introspection_endpoint": .string("\(issuer)/introspect"),
                "revocation_endpoint": .string("\(issuer)/revoke"),
                "jwks_uri": .string("\(issuer)/.well-known/jwks.json"),
                "grant_types_supported": Self.texts(TokenRoutes.Grant.allCases.map(\.rawValue)),
                "response_types_supported": Self.texts(["none"]),
                "scopes_supported": Self.texts(ProviderScope.allCases.map(\.rawValue)),
                "token_endpoint_auth_methods_supported": methods,
                "token_endpoint_auth_signing_alg_values_supported": algorithms,
                "introspection_endpoint_auth_methods_supported": methods,
                "introspection_endpoint_auth_signing_alg_values_supported": algorithms,
                "introspection_signing_alg_values_supported": Self.texts(AccessTokenAlgorithm.allCases.map(\.rawValue)),
                "revocation_endpoint_auth_methods_supported": methods,
                "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
                "tls_client_certificate_bound_access_tokens": .bool(true),
                "dpop_signing_alg_values_supported": Self.texts(["ES256", "ES384", "RS256", "PS256"]),
                "protected_resources": Self.texts([urls.client]),
            ])
    }

    /// The metadata of RFC 9728 §2.
    private func describeResource() -> Response {
        Self.answer(
            resource,
            [
                "resource": .string(urls.client), "authorization_servers": Self.texts([urls.issuer]),
                "bearer_methods_supported": Self.texts(["header"]),
                "tls_client_certificate_bound_access_tokens": .bool(true),
            ])
    }

    private static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    private static func answer(
        _ latest: LatestBuffer, _ members: KeyValuePairs<String, JSONValue?>
    ) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(shared: latest.sharing(JSONValue.object(members).buffer)))
    }
}
