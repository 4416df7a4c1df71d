import Domain
import Encoding

/// A presentation in a wallet's answer (`vp_token`, OpenID4VP 1.0 §8.1), and the part of the query that it answers.
package struct PresentationToken: Sendable {
    package let requested: RequestedCredential
    /// An SD-JWT, or base64url of a `DeviceResponse`.
    package let presentation: String
}

package extension PresentationToken {
    /// Reads the decrypted answer: one presentation for each part of the query that the wallet answers, at least one. The
    /// wallet is not trusted to have answered the query.
    ///
    /// - Throws: `malformed`, `replayed`, `not_asked`, `incomplete` or `surplus`.
    static func all(
        _ json: [UInt8], answering request: PresentationRequest
    ) throws(PresentationDefect) -> [PresentationToken] {
        guard let answer = try? JSONOutline(json) else {
            throw PresentationDefect(.malformed, "The answer is not one JSON object.")
        }
        // A wallet may leave it out: the address that it answers and the key name the request, too.
        if let state = request.state, let returned = answer["state"] {
            guard returned.text.map({ $0.hasSameBytes(as: state) }) == true else {
                throw PresentationDefect(.replayed, "The state in the answer is not the request's.")
            }
        }
        guard answer["error"] == nil else {
            throw PresentationDefect.empty("The wallet reports an error and presents nothing.")
        }
        guard case .object(let members)? = answer["vp_token"] else {
            throw PresentationDefect(.malformed, "The answer has no vp_token that is an object with the query's ids.")
        }
        guard !members.isEmpty else {
            throw PresentationDefect.empty("The vp_token has no presentation.")
        }
        var tokens: [PresentationToken] = []
        for member in members { tokens.append(try PresentationToken(member, request)) }
        return tokens
    }

    private init(_ member: JSONMember, _ request: PresentationRequest) throws(PresentationDefect) {
        guard let requested = request.credentials.first(where: { $0.id.hasSameBytes(as: member.name) }) else {
            throw PresentationDefect(.notAsked, "The vp_token has an id that is not in the query.")
        }
        guard case .array(let presentations) = member.value else {
            throw PresentationDefect(.malformed, "A member of vp_token is not an array.")
        }
        guard presentations.count <= 1 else {
            throw PresentationDefect(.surplus, "The vp_token has several presentations under one id.")
        }
        guard let text = presentations.first?.text else {
            throw PresentationDefect(.malformed, "The vp_token has an array that is not one string.")
        }
        self.requested = requested
        presentation = text
    }
}
