import Domain
import Encoding

/// A query for one credential of several, in the query language of OpenID4VP 1.0 (DCQL, §6).
package struct CredentialQuery: Sendable {
    /// The credentials of which a wallet presents one.
    package let credentials: [RequestedCredential]
    /// The formats that the service accepts.
    private let formats: [RequestedCredential.Format]
    /// The key identifiers of the trusted issuers, by the credential's id. Without an entry none is named.
    private let issuers: [String: [[UInt8]]]

    package init(
        _ credentials: [RequestedCredential], formats: [RequestedCredential.Format], issuers: [String: [[UInt8]]] = [:]
    ) {
        self.credentials = credentials
        self.formats = formats
        self.issuers = issuers
    }
}

extension CredentialQuery {
    /// One credential is enough, whichever it is.
    var json: JSONValue {
        .object([
            "credentials": .array(credentials.map(json)),
            "credential_sets": .array([
                .object(["options": .array(credentials.map { .array([.string($0.id)]) })])
            ]),
        ])
    }

    private func json(_ credential: RequestedCredential) -> JSONValue {
        let isDocument = credential.format == .mobileDocument
        let meta: JSONValue =
            isDocument
            ? .object(["doctype_value": .string(credential.type)])
            : .object(["vct_values": .array([.string(credential.type)])])
        let claims = credential.claims.map { path in
            JSONValue.object([
                "path": .array(path.map { .string($0) }),
                "intent_to_retain": isDocument ? .bool(WalletQuery.isRetained(path)) : nil,
            ])
        }
        return .object([
            "id": .string(credential.id), "format": .string(credential.format.rawValue), "meta": meta,
            "claims": .array(claims), "trusted_authorities": issuers[credential.id].map(authorities),
        ])
    }

    /// The issuers by their keys (§6.1.1.1), so a wallet offers no credential of another one.
    private func authorities(_ keys: [[UInt8]]) -> JSONValue {
        .array([
            .object(["type": .string("aki"), "values": .array(keys.map { .string(Base64URL.encode($0)) })])
        ])
    }

    /// The formats with the algorithms that the service can verify (§11.1, §B).
    var supportedFormats: JSONValue {
        func numbers(_ values: Int64...) -> JSONValue { .array(values.map { .integer($0) }) }
        let es256 = JSONValue.array([.string("ES256")])
        return .object(
            formats.map { format in
                JSONMember(
                    name: format.rawValue,
                    value: format == .mobileDocument
                        ? .object([
                            "issuerauth_alg_values": numbers(-7, -9, -35, -51),
                            "deviceauth_alg_values": numbers(-7, -9),
                        ]) : .object(["sd-jwt_alg_values": es256, "kb-jwt_alg_values": es256]))
            })
    }
}
