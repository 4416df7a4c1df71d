/// An app on a device, by the ARN of its Amazon SNS endpoint. The resource is
/// `endpoint/<platform>/<application>/<id>`.
package struct PushEndpoint: Hashable, Sendable, CustomStringConvertible {
    package let arn: String

    /// The longest accepted ARN, in bytes.
    private static let maximumLength = 512

    /// Parses the ARN of an endpoint of a platform application that the policy names. Others are refused: they could
    /// make this service call an AWS account of a stranger.
    ///
    /// - Parameter applications: their ARNs, `arn:aws:sns:<region>:<account>:app/<platform>/<application>`.
    /// - Throws: ``Refusal`` `malformed_request`.
    package init(_ arn: String, of applications: [String]) throws(Refusal) {
        let owner = applications.first { application in
            let start = Self.endpointPrefix(of: application)
            return arn.utf8.starts(with: start.utf8) && Self.isIdentifier(arn.utf8.dropFirst(start.utf8.count))
        }
        guard arn.utf8.count <= Self.maximumLength, owner != nil else {
            throw Refusal.unknownPushEndpoint
        }
        self.arn = arn
    }
}

package extension PushEndpoint {
    /// Whether a text is the ARN of a platform application.
    static func isApplication(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard text.utf8.count <= maximumLength, parts.count == 6, parts[0] == "arn", parts[1].hasPrefix("aws"),
            parts[2] == "sns", !parts[3].isEmpty, parts[4].count == 12, parts[4].allSatisfy(\.isNumber)
        else { return false }
        let resource = parts[5].split(separator: "/", omittingEmptySubsequences: false)
        return resource.count == 3 && resource[0] == "app" && resource.dropFirst().allSatisfy(isIdentifier)
    }

    /// The application without the endpoint's id, which belongs to the user.
    var description: String {
        String(arn[..<(arn.lastIndex(of: "/") ?? arn.startIndex)]) + "/…"
    }

    private static func endpointPrefix(of application: String) -> String {
        application.replacing(":app/", with: ":endpoint/", maxReplacements: 1) + "/"
    }

    private static func isIdentifier(_ text: Substring) -> Bool { isIdentifier(text.utf8) }

    private static func isIdentifier(_ text: Substring.UTF8View) -> Bool {
        !text.isEmpty
            && text.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }
}
