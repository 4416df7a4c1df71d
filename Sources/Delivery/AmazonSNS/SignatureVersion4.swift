import Crypto
import Domain
import Encoding
import Foundation

/// Signs requests to Amazon Web Services by the algorithm `AWS4-HMAC-SHA256` (AWS Identity and Access Management User
/// Guide, "Create a signed AWS API request", steps 1 to 5). For every service but S3, which encodes paths
/// differently.
struct SignatureVersion4: Sendable {
    /// The region of the credential scope: `us-east-1`.
    let region: String
    /// The service of the credential scope: `sns`.
    let service: String

    typealias Field = (name: String, value: String)

    struct Request: Sendable {
        /// The method, such as `POST`.
        let method: String
        /// The path as on the wire, percent-encoded.
        let path: String
        /// The query as on the wire, percent-encoded, without `?`; empty if there is none.
        let query: String
        /// The header fields to sign, including `Host`. Fields that proxies may change must not be among them.
        let headers: [Field]
        let body: [UInt8]

        init(method: String, path: String, query: String = "", headers: [Field], body: [UInt8]) {
            self.method = method
            self.path = path
            self.query = query
            self.headers = headers
            self.body = body
        }
    }

    /// The additional fields of a signed request: `X-Amz-Date`, `Authorization`, and `X-Amz-Security-Token` for a
    /// temporary key.
    func headers(signing request: Request, with credentials: AmazonCredentials, at date: Date) -> [Field] {
        // ISO 8601 in the basic form: 20260131T235959Z.
        let time = date.rfc3339.filter { $0 != "-" && $0 != ":" }
        var added: [Field] = [("X-Amz-Date", time)]
        if let token = credentials.sessionToken { added.append(("X-Amz-Security-Token", token.reveal())) }

        let headers = Self.canonicalHeaders(request.headers + added)
        let names = headers.map(\.name).joined(separator: ";")
        // Step 1.
        let canonicalRequest = [
            request.method, Self.canonicalPath(request.path), Self.canonicalQuery(request.query),
            headers.map { "\($0.name):\($0.value)\n" }.joined(), names, Self.digest(request.body),
        ].joined(separator: "\n")
        // Steps 2 and 3.
        let day = String(time.prefix(8))
        let scope = "\(day)/\(region)/\(service)/aws4_request"
        let stringToSign = ["AWS4-HMAC-SHA256", time, scope, Self.digest(Array(canonicalRequest.utf8))]
            .joined(separator: "\n")
        // Step 4.
        var key = SymmetricKey(data: Array("AWS4\(credentials.secretAccessKey.reveal())".utf8))
        for part in [day, region, service, "aws4_request"] { key = SymmetricKey(data: Self.code(part, key)) }
        // Step 5.
        let signature = Self.hexadecimal(Self.code(stringToSign, key))
        added.append(
            (
                "Authorization",
                "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scope), SignedHeaders=\(names), "
                    + "Signature=\(signature)"
            ))
        return added
    }

    /// Normalized (RFC 3986 §5.2.4, without empty segments), then percent-encoded a second time.
    private static func canonicalPath(_ path: String) -> String {
        var segments: [Substring] = []
        for segment in path.split(separator: "/") where segment != "." {
            if segment == ".." { _ = segments.popLast() } else { segments.append(segment) }
        }
        let end = path.hasSuffix("/") && !segments.isEmpty ? "/" : ""
        return PercentEncoding.encode("/" + segments.joined(separator: "/") + end, keepingSlashes: true)
    }

    /// Sorted by name, then by value, in code points.
    private static func canonicalQuery(_ query: String) -> String {
        let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            let name = pair.prefix { $0 != "=" }
            return (name: Array(name.utf8), value: Array(pair[name.endIndex...].dropFirst().utf8))
        }
        guard !query.isEmpty else { return "" }
        let sorted = pairs.sorted { left, right in
            left.name == right.name
                ? left.value.lexicographicallyPrecedes(right.value) : left.name.lexicographicallyPrecedes(right.name)
        }
        return sorted.map { String(decoding: $0.name + [UInt8(ascii: "=")] + $0.value, as: UTF8.self) }
            .joined(separator: "&")
    }

    /// Names in lower case and sorted. Values trimmed, runs of white space collapsed, repeated fields joined.
    private static func canonicalHeaders(_ fields: [Field]) -> [Field] {
        var values: [String: [String]] = [:]
        for field in fields {
            let value = field.value.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            values[field.name.lowercased(), default: []].append(value)
        }
        return values.map { (name: $0.key, value: $0.value.joined(separator: ",")) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private static func code(_ text: String, _ key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    }

    private static func digest(_ bytes: [UInt8]) -> String { hexadecimal(Array(SHA256.hash(data: bytes))) }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
