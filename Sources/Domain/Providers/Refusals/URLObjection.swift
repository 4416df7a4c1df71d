import Encoding
import Foundation

/// Why a text is not an accepted URL, in the words of the rule that it breaks.
package enum URLObjection {
    /// The rule of `PublicURL` that a refused text breaks.
    static func publicURL(_ text: String) -> String {
        guard text.utf8.count <= 1024 else { return "It has more than 1,024 bytes." }
        if let objection = characters(of: text) { return objection }
        guard text.utf8.starts(with: "https://".utf8) else { return "It must begin with https:// in lower case." }
        let rest = text.dropFirst("https://".count)
        guard !rest.prefix(while: { $0 != "/" && $0 != "?" }).contains("@") else {
            return "It has user info before the host. Remove it."
        }
        guard let web = WebAddress(text) else { return "Its host or port is malformed." }
        if web.isLoopback { return "Its host is this machine." }
        return web.literal == nil ? "Its host is a name without a dot." : "Its host is an address that is not public."
    }

    /// What is wrong with the characters of a URL; `nil` if they are those of a URL without a fragment. A host in other
    /// letters is shown in the form that DNS has (RFC 5891).
    package static func characters(of text: String) -> String? {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            let written = URL(string: text)?.absoluteString
            let remedy = written.flatMap { $0.utf8.allSatisfy { $0 < 0x80 } ? "Write it as \($0)." : nil }
            return "It has characters outside ASCII. \(remedy ?? "Write its host in the form xn--….")"
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { return "It has a fragment. Remove it from # on." }
        let foreign = Set("\"<>\\^`{|}".utf8)
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !foreign.contains($0) }) else {
            return "It has a blank or a sign that URLs have only percent-encoded."
        }
        return nil
    }
}
