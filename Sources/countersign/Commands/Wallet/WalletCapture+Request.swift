import Encoding
import Foundation

/// A request and an answer as they were sent: the signed request, and the form that the wallet posted.
extension WalletCapture {
    /// A capture with the members that its signed request has, if it has one. The signature is not verified: it is the
    /// service's own.
    ///
    /// - Throws: a defect of the request.
    static func namingRequest(_ json: JSONValue) throws(JSONDefect) -> JSONValue {
        guard let value = json["request"], case .object(let members) = json else { return json }
        let parts = (value.text ?? "").utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(parts[1]), let payload = try? StrictJSON.parse(bytes)
        else {
            throw defect("$.request", "is not a compact JWS of a JSON object")
        }
        let channel: [(String, JSONValue?)] =
            payload["response_uri"] == nil
            ? [("origin", first(payload["expected_origins"]))]
            : ["client_id", "response_uri", "state"].map { ($0, payload[$0]) }
        let named = channel + [("nonce", payload["nonce"]), ("query", try query(payload["dcql_query"]))]
        let others = members.filter { member in !named.contains { $0.0.hasSameBytes(as: member.name) } }
        return .object(others + named.compactMap { name, value in value.map { JSONMember(name: name, value: $0) } })
    }

    /// The credentials of a query (OpenID4VP 1.0 §6), as a capture has them.
    private static func query(_ dcql: JSONValue?) throws(JSONDefect) -> JSONValue {
        guard case .array(let credentials)? = dcql?["credentials"] else {
            throw defect("$.request", "has no dcql_query with credentials")
        }
        return .array(
            credentials.map { credential in
                let claims: [JSONValue] =
                    if case .array(let claims)? = credential["claims"] { claims.compactMap { $0["path"] } } else { [] }
                let meta = credential["meta"]
                return .object([
                    "id": credential["id"], "format": credential["format"],
                    "type": meta?["doctype_value"] ?? first(meta?["vct_values"]), "claims": .array(claims),
                ])
            })
    }

    private static func first(_ value: JSONValue?) -> JSONValue? {
        if case .array(let elements)? = value { elements.first } else { nil }
    }

    /// The answer in the form that a wallet posts, or as it is.
    static func posted(_ text: String) -> String {
        let items = URLComponents(string: "?" + text)?.queryItems ?? []
        return items.first { $0.name == "response" }?.value ?? text
    }
}
