import Domain
import Foundation

/// The credentials that sign requests to an Amazon Web Services account: an access key, and a session token if the
/// key is temporary (AWS Identity and Access Management User Guide, "Temporary security credentials").
struct AmazonCredentials: Sendable {
    /// The key's id; it is part of every signed request and no secret.
    let accessKeyID: String
    let secretAccessKey: Secret<String>
    /// Sent with each request if the key is temporary.
    let sessionToken: Secret<String>?

    /// Validates the parts.
    ///
    /// - Returns: `nil` if one of them is empty, over 8,192 bytes, or not printable ASCII without space.
    init?(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        guard [accessKeyID, secretAccessKey, sessionToken ?? "-"].allSatisfy(Self.isToken) else { return nil }
        self.accessKeyID = accessKeyID
        self.secretAccessKey = Secret(secretAccessKey)
        self.sessionToken = sessionToken.map { Secret($0) }
    }

    /// Parses the profile `default` of a shared credentials file, the common form of Amazon's tools (AWS SDKs and
    /// Tools Reference Guide, "Using shared config and credentials files").
    ///
    /// - Parameter place: the file's name, for the error.
    /// - Throws: ``DeliveryError`` `secret`.
    init(sharedFile text: String, place: String) throws(DeliveryError) {
        var values: [String: String] = [:]
        var isDefault = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("#") || line.hasPrefix(";") || line.isEmpty { continue }
            if line.hasPrefix("[") {
                isDefault = line == "[default]"
            } else if isDefault, let equals = line.firstIndex(of: "=") {
                let name = line[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
                values[name] = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
            }
        }
        try self.init(
            values["aws_access_key_id"], values["aws_secret_access_key"], values["aws_session_token"],
            place: place, expected: "[default] with aws_access_key_id and aws_secret_access_key")
    }

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if it is set, `AWS_SESSION_TOKEN`.
    ///
    /// - Throws: ``DeliveryError`` `secret`.
    init(environment: [String: String]) throws(DeliveryError) {
        try self.init(
            environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"], environment["AWS_SESSION_TOKEN"],
            place: "The environment", expected: "AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY")
    }

    private init(
        _ accessKeyID: String?, _ secretAccessKey: String?, _ sessionToken: String?, place: String, expected: String
    ) throws(DeliveryError) {
        // An empty variable means the same as none.
        let sessionToken = sessionToken?.isEmpty == true ? nil : sessionToken
        guard let accessKeyID, let secretAccessKey,
            let credentials = AmazonCredentials(
                accessKeyID: accessKeyID, secretAccessKey: secretAccessKey, sessionToken: sessionToken)
        else { throw .secret(place, expected: expected) }
        self = credentials
    }

    private static func isToken(_ text: String) -> Bool {
        (1...8192).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
