import Domain
import Foundation

/// A `pkcs11:` URI (RFC 7512): the object and its token, the module, and the place of the PIN.
struct PKCS11URI: Sendable {
    /// The scheme and the path attributes unchanged, which identify the key. Contains no PIN.
    let object: String
    /// `module-path`: the library that implements PKCS#11 for the token.
    let modulePath: String
    /// The PIN from `pin-value` or from the file of `pin-source`; `nil` if the URI has neither.
    let pin: Secret<String>?

    /// Parses a URI.
    ///
    /// - Throws: ``AuthorityError/malformedURI(_:)``; its reason contains no value of the URI.
    init(_ text: String) throws(AuthorityError) {
        guard text.hasPrefix("pkcs11:"), text.utf8.count <= 4096, !text.utf8.contains(0) else {
            throw .malformedURI("it does not begin with pkcs11:")
        }
        let halves = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves[0].count > "pkcs11:".count else { throw .malformedURI("it names no object") }
        var query: [String: String] = [:]
        for attribute in halves.count > 1 ? halves[1].split(separator: "&") : [] {
            let pair = attribute.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, let value = pair[1].removingPercentEncoding, !value.utf8.contains(0) else {
                throw .malformedURI("a query attribute is not name=value")
            }
            guard query.updateValue(value, forKey: String(pair[0])) == nil else {
                throw .malformedURI("a query attribute is repeated (RFC 7512 §2.3)")
            }
        }
        guard !halves[0].contains("pin-value") else {
            throw .malformedURI("pin-value belongs after the question mark")
        }
        object = String(halves[0])
        // Without a path, p11-kit's proxy offers every module of the machine.
        modulePath = query["module-path"] ?? "p11-kit-proxy.so"
        pin = try Self.pin(value: query["pin-value"], source: query["pin-source"])
    }

    private static func pin(value: String?, source: String?) throws(AuthorityError) -> Secret<String>? {
        guard value == nil || source == nil else {
            throw .malformedURI("it has both pin-value and pin-source (RFC 7512 §2.4)")
        }
        if let value { return Secret(value) }
        guard let source else { return nil }
        // A command (`|program`) would run as the service, so only files are read.
        let path =
            source.hasPrefix("file://")
            ? String(source.dropFirst(7)) : source.replacing("file:", with: "", maxReplacements: 1)
        guard path.hasPrefix("/") else { throw .malformedURI("pin-source must be the absolute path of a file") }
        guard let data = FileManager.default.contents(atPath: path), data.count <= 1024,
            let text = String(data: data, encoding: .utf8)
        else { throw .malformedURI("the file of pin-source cannot be read") }
        return Secret(text.trimmingCharacters(in: .newlines))
    }
}
