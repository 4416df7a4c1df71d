import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import Testing
import Tokens

@testable import API

/// What tests of the endpoints of OAuth send.
extension RouterBench {
    static let form = "application/x-www-form-urlencoded"
    static let exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    static let bearerGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    static let accessToken = "urn:ietf:params:oauth:token-type:access_token"

    /// A form as a browser writes it.
    static func encoded(_ fields: KeyValuePairs<String, String>) -> String {
        let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
        return fields.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: plain) ?? "")"
        }.joined(separator: "&")
    }

    /// A form to a path of the public listener, without `Authorization`.
    func post(_ path: String, _ fields: KeyValuePairs<String, String>, bearer: String? = nil) async throws -> Reply {
        try await open("POST \(path)", body: Self.encoded(fields), type: Self.form, bearer: bearer)
    }

    /// A form to the client listener's token endpoint.
    func askToken(
        _ fields: KeyValuePairs<String, String>, proofs: [String] = [], on connection: ClientConnection
    ) async throws -> Reply {
        var headers: HTTPFields = [.contentType: Self.form]
        headers[values: try #require(HTTPField.Name("DPoP"))] = proofs
        return try await send(
            .client, "POST /token", headers: headers,
            body: RequestBody(buffer: ByteBuffer(string: Self.encoded(fields))), on: connection)
    }

    /// Asks for a token in exchange for a session's.
    func exchanged(
        _ token: String, audience: String? = nil, proofs: [String] = [], on connection: ClientConnection
    ) async throws -> Reply {
        try await askToken(
            [
                "grant_type": Self.exchange, "subject_token": token, "subject_token_type": Self.accessToken,
                "audience": audience ?? fixture.registration.provider.id.description,
            ], proofs: proofs, on: connection)
    }

    /// Asks for a session with the assertion of the provider.
    func granted(
        on connection: ClientConnection, nonce: String? = nil, edit: (inout TokenDraft) -> Void = { _ in }
    ) async throws -> Reply {
        let token = try fixture.signer.identityToken(
            provider: fixture.registration.provider.id, kid: fixture.registration.keyID, externalID: "alice",
            nonce: nonce ?? fixture.context.issueNonce(connection).nonce, now: fixture.clock.now
        ) { draft in
            draft[claim: "prn"] = nil
            draft[claim: "sub"] = .string("alice")
            draft[claim: "aud"] = .string("https://public.example")
            edit(&draft)
        }
        return try await askToken(["grant_type": Self.bearerGrant, "assertion": token], on: connection)
    }

    /// A provider's proof of itself in a form.
    func assertion(
        audience: String = "https://public.example/token", lifetime: Int64 = 300,
        edit: (inout TokenDraft) -> Void = { _ in }
    ) throws -> String {
        try fixture.signer.clientAssertion(
            provider: fixture.registration.provider.id, kid: fixture.registration.keyID, audience: audience,
            now: fixture.clock.now, lifetime: lifetime, edit: edit)
    }

    /// Asks for an access token with an assertion.
    func taken(_ assertion: String, scope: String = "") async throws -> Reply {
        try await post(
            "/token",
            [
                "grant_type": "client_credentials", "client_assertion_type": ClientAssertion.type,
                "client_assertion": assertion, "scope": scope,
            ])
    }

    /// An access token of the provider's.
    func access(_ scope: String = "") async throws -> String {
        try await taken(try assertion(), scope: scope).text("access_token") ?? ""
    }
}
