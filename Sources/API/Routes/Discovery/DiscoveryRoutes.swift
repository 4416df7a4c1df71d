import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations

/// Public data about the service, on the public listener.
struct DiscoveryRoutes: Sendable {
    let service: Service
    /// SHA-256 of the current and the next server key's SubjectPublicKeyInfo, base64url.
    let pins: @Sendable () -> [String]
    /// The public halves of the service's signing keys (RFC 7517).
    let webKeys: [JSONValue]
    private let document = ServiceDocument()

    func add(to router: ListedRouter<PublicContext>) {
        let router = router.ignoringUnknownParameters
        router.get("/", cost: .free) { _, _ in describe() }
        router.get(".well-known/countersign", cost: .free) { _, _ in describe() }
        router.get(".well-known/jwks.json", cost: .free) { _, _ in
            shared(["keys": .array(webKeys)], in: keySet)
        }
        router.get("openapi.json", cost: .free) { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: ResponseBody(
                    shared: document.buffer(publicURL: service.urls.issuer, clientURL: service.urls.client)))
        }
    }

    private let described = LatestBuffer()
    private let keySet = LatestBuffer()

    private func describe() -> Response {
        let (publicURL, clientURL) = (service.urls.issuer, service.urls.client)
        let tokens = service.policy[\.identityTokens]
        let sessions = service.policy[\.sessions]
        return shared(
            [
                "realm": .string(service.realm), "service": .string("countersign"),
                "certificates_endpoint": .string("\(publicURL)/certificates"),
                "authority": .string("\(publicURL)/certificates/authority"),
                "revocation_list": .string("\(publicURL)/certificates/revocations"),
                "nonce_endpoint": .string("\(clientURL)/nonces"),
                "session_endpoint": .string("\(clientURL)/sessions"),
                "introspection_endpoint": .string("\(publicURL)/introspect"),
                "revocation_endpoint": .string("\(publicURL)/revoke"),
                "jwks_uri": .string("\(publicURL)/.well-known/jwks.json"),
                "openapi": .string("\(publicURL)/openapi.json"),
                "identity_token_algorithms": .array(["RS256", "PS256", "ES256", "ES384", "EdDSA"].map { .string($0) }),
                "identity_token_maximum_lifetime": .integer(Int64(tokens.maximumLifetime)),
                "clock_skew": .integer(Int64(tokens.clockSkew)),
                "sessions_per_user_and_device": .integer(Int64(sessions.perUserAndDevice)),
                "session_attachment": .string(sessions.attach.rawValue),
                "certification_gate": .string(service.policy[\.certification].gate.rawValue),
                "limits": .string(service.rateLimiting.rawValue),
                "server_key_pins_sha256": .array(pins().map { .string($0) }),
            ], in: described)
    }

    /// A response that is the same for every client until its content changes.
    private func shared(_ members: KeyValuePairs<String, JSONValue?>, in latest: LatestBuffer) -> Response {
        var bytes: [UInt8] = []
        JSONValue.object(members).appendJSON(to: &bytes)
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(shared: latest.sharing(ByteBuffer(bytes: bytes))))
    }
}
