import Domain
import Encoding

/// Refusals of bodies, queries and paths. A path of JSON, such as `$.delivery.method`, is given without its `$.`.
extension Refusal {
    static func notJSON(_ defect: JSONDefect) -> Refusal {
        Refusal(.malformedRequest, "\(defect.path): \(defect.problem).")
    }

    static let bodyNotObject = Refusal(.malformedRequest, "$ is not an object. Send a JSON object.")

    static func memberMissing(_ path: String) -> Refusal {
        Refusal(.malformedRequest, "$.\(path) is missing. Send it.")
    }

    static func memberUnknown(_ path: some StringProtocol) -> Refusal {
        Refusal(.malformedRequest, "$.\(path) is not a member of this request. Remove it.")
    }

    /// - Parameter types: the allowed types, with an article.
    static func memberMustBe(_ types: String, _ path: String) -> Refusal {
        Refusal(.malformedRequest, "$.\(path) must be \(types).")
    }

    static func memberMustBeOneOf<Choice: RawRepresentable & CaseIterable>(
        _ choices: Choice.Type, _ path: String
    ) -> Refusal where Choice.RawValue == String {
        memberMustBe(choices.allCases.map(\.rawValue).joined(separator: " or "), path)
    }

    static func memberWithNull(_ path: String) -> Refusal {
        Refusal(.malformedRequest, "$.\(path) contains U+0000. Remove it.")
    }

    static func oneMemberOf(_ members: [String]) -> Refusal {
        let names = members.map { "$.\($0)" }.joined(separator: ", ")
        return Refusal(.malformedRequest, "Send exactly one of \(names).")
    }

    static let formNotDecodable = Refusal(
        .malformedRequest, "The form is not percent-encoded UTF-8. Encode names and values.")

    static let formWithLongRun = Refusal(
        .malformedRequest, "The form has more than 30 combining marks in a row. Shorten the text.")

    static func formTooLong(allowed: Int) -> Refusal {
        Refusal(.malformedRequest, "The form has more than \(allowed) parameters. Remove some.")
    }

    static let formRepeats = Refusal(.malformedRequest, "A parameter of the form is repeated. Send each once.")

    static func parameterMissing(_ name: String) -> Refusal {
        Refusal(.malformedRequest, "The form lacks the parameter \(name). Send it.")
    }

    static func queryLacks(_ name: String) -> Refusal {
        Refusal(.malformedRequest, "The query parameter \(name) is missing. Send it.")
    }

    static func queryUnknown(_ name: some StringProtocol, allowed: [String]) -> Refusal {
        let names = allowed.map { $0.hasSuffix(".") ? "\($0)…" : $0 }.joined(separator: ", ")
        return Refusal(
            .malformedRequest,
            allowed.isEmpty
                ? "This call has no query parameters. Remove \(name)."
                : "This call has no query parameter \(name). Remove it. Allowed are: \(names).")
    }

    static func queryRepeats(_ name: some StringProtocol) -> Refusal {
        Refusal(.malformedRequest, "The query parameter \(name) is repeated. Send it once.")
    }

    static func queryTooLong(allowed: Int) -> Refusal {
        Refusal(.malformedRequest, "The query has more than \(allowed) parameters. Remove some.")
    }

    /// - Parameter values: the allowed values, with an article.
    static func parameterMustBe(_ values: String, _ name: String) -> Refusal {
        Refusal(.malformedRequest, "The query parameter \(name) must be \(values).")
    }

    static let noSecurityEventToken = Refusal(
        .malformedRequest, "The body is not UTF-8 text. Send a Security Event Token.")

    static func wrongMediaType(wanted: String) -> Refusal {
        Refusal(.unsupportedMediaType, "The body has another media type. Send it as \(wanted).")
    }

    /// For a request without `Content-Type`: often there is no body at all.
    static func noMediaType(wanted: String) -> Refusal {
        Refusal(.unsupportedMediaType, "Content-Type is missing. Send a body as \(wanted).")
    }

    static func bodyLarger(than maximum: Int) -> Refusal {
        Refusal(.payloadTooLarge, "The body is larger than \(maximum) bytes. Send less.")
    }

    static let bodyTooLarge = Refusal(.payloadTooLarge, "The body is too large. Send less.")

    static let unreadableRequest = Refusal(.malformedRequest, "The request is malformed. Check its form.")

    static let unknownPath = Refusal(.notFound, "This path does not exist. Check it.")

    static func pathElsewhere(_ listener: String, _ place: String) -> Refusal {
        Refusal(.notFound, "This path is on the \(listener) listener\(place). Send the request there.")
    }

    static let unknownProblemCode = Refusal(.notFound, "This service has no problem with this code. Check it.")
}

/// Refusals for callers that do not finish their large messages or do not read their responses.
extension Refusal {
    static func responsesUnread(ofCertificate retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "Large messages or responses of this certificate are under way. Finish them first.",
            retryAfter: retryAfter)
    }

    static func responsesUnread(ofUser retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "Large messages or responses of this user's devices are under way. Finish them first.",
            retryAfter: retryAfter)
    }

    static func responsesUnread(ofProvider retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "Large responses to this provider are under way. Read them first.", retryAfter: retryAfter)
    }

    static func responsesUnread(ofNetwork retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "Large messages or responses of this address are under way. Try again in \(retryAfter) s.",
            retryAfter: retryAfter)
    }

    static func tooManyResponses(retryAfter: Int) -> Refusal {
        Refusal(
            .unavailable, "Too many large messages and responses are under way. Try again in \(retryAfter) s.",
            retryAfter: retryAfter)
    }
}
