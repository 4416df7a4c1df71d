import Crypto
import Foundation

/// Signs requests to a bucket by `AWS4-HMAC-SHA256` (Amazon S3 API Reference, "Authenticating Requests (AWS Signature
/// Version 4)"). The digest of the body is signed too, so the bucket refuses a file that was changed on its way.
struct BucketSignature: Sendable {
    let region: String
    private let keyID, secret: String
    /// Present if the key is temporary.
    private let sessionToken: String?

    /// - Returns: `nil` if `AWS_ACCESS_KEY_ID` or `AWS_SECRET_ACCESS_KEY` is missing.
    init?(region: String, environment: [String: String]) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let keyID = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") else { return nil }
        (self.region, self.keyID, self.secret) = (region, keyID, secret)
        sessionToken = value("AWS_SESSION_TOKEN")
    }

    /// The header fields that authorize a request without a query.
    ///
    /// - Parameters:
    ///   - path: as on the wire. S3 signs it unchanged, unlike other services of Amazon.
    ///   - sha256: the digest of the body in hexadecimal digits.
    func headers(
        _ method: String, _ path: String, on host: String, sha256: String, at date: Date
    ) -> [(name: String, value: String)] {
        let time = date.formatted(.iso8601).replacing("-", with: "").replacing(":", with: "")
        let (day, names) = (String(time.prefix(8)), signedNames)
        var fields = [(name: "X-Amz-Content-Sha256", value: sha256), (name: "X-Amz-Date", value: time)]
        if let sessionToken { fields.append((name: "X-Amz-Security-Token", value: sessionToken)) }
        let lines = ([(name: "host", value: host)] + fields).map { "\($0.name.lowercased()):\($0.value)\n" }.joined()
        let request = [method, path, "", lines, names, sha256].joined(separator: "\n")
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(SHA256.hash(data: Data(request.utf8)).hexadecimal)"
        let key = [day, region, "s3", "aws4_request"].reduce(Data("AWS4\(secret)".utf8)) { Self.code($1, key: $0) }
        let signature = Self.code(text, key: key).hexadecimal
        fields.append(
            (
                name: "Authorization",
                value: "AWS4-HMAC-SHA256 Credential=\(keyID)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
            ))
        return fields
    }

    private var signedNames: String {
        "host;x-amz-content-sha256;x-amz-date" + (sessionToken == nil ? "" : ";x-amz-security-token")
    }

    private static func code(_ text: String, key: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: key)))
    }
}
