import Domain
import Encoding
import Foundation

/// Reads the claims of a payload (RFC 7519 §4), each as its expected type, and records defects.
///
/// All kinds of token use it. If a defect was recorded, the values must not be used.
struct ClaimReader {
    private let payload: JSONOutline
    /// The defects so far, in the order of reading.
    private(set) var defects: [TokenDefect] = []
    /// The claims about the user that were left out.
    private(set) var ignored: [IgnoredClaim] = []

    /// When a token was issued and when it expires.
    struct Validity {
        var issuedAt = Date.distantPast
        var expiresAt = Date.distantPast
    }

    init(_ payload: JSONOutline) {
        self.payload = payload
    }

    func has(_ name: String) -> Bool { payload.has(name) }

    mutating func note(_ reason: Refusal.Reason, _ detail: String) {
        defects.append(TokenDefect(reason, detail))
    }

    /// A required string; empty if it is missing.
    mutating func text(_ name: String, bytes: ClosedRange<Int>) -> String {
        guard has(name) else {
            note(.missingClaim, "The claim \(name) is missing.")
            return ""
        }
        return optionalText(name, bytes: bytes) ?? ""
    }

    /// An optional string. Hidden characters (`PlainText`) are refused in every string. The strings end up in
    /// headers, terminals and on other people's screens, and the store refuses U+0000.
    mutating func optionalText(
        _ name: String, bytes: ClosedRange<Int>, for use: PlainText.Use = .identifier
    ) -> String? {
        guard let value = payload[name] else { return nil }
        guard let text = value.text else {
            let defect = payload.defect(of: name).map { "cannot be read: \($0.problem)" }
            note(.malformed, "The claim \(name) \(defect ?? "is not a string").")
            return nil
        }
        guard bytes.contains(text.utf8.count) else {
            note(
                .malformed,
                "The claim \(name) has \(text.utf8.count.counting("byte")). It may have "
                    + "\(bytes.lowerBound) to \(bytes.upperBound).")
            return nil
        }
        guard PlainText.isPlain(text, for: use) else {
            note(
                .malformed,
                "The claim \(name) contains a character that cannot be seen, such as one of control or direction.")
            return nil
        }
        return text
    }

    /// A claim that only describes the user. An issuer leaves out one without a value, or should (OpenID Connect Core
    /// 1.0 §5.3.2), and people choose names: a claim that cannot be shown never locks its user out.
    ///
    /// - Parameter objection: why a text cannot be shown, in words; `nil` if it can.
    mutating func description(
        _ name: String, bytes: ClosedRange<Int>, for use: PlainText.Use = .identifier,
        objection: (String) -> String? = { _ in nil }
    ) -> String? {
        var attempt = ClaimReader(payload)
        let text = attempt.optionalText(name, bytes: bytes, for: use)
        if let defect = attempt.defects.first {
            ignored.append(IgnoredClaim(name: name, detail: defect.detail))
        } else if let objection = text.flatMap(objection) {
            ignored.append(IgnoredClaim(name: name, detail: "The claim \(name) \(objection)."))
        } else {
            return text
        }
        return nil
    }

    /// The subject: `prn`, or its alias `sub`; both only if they are the same bytes.
    mutating func subject(bytes: ClosedRange<Int>) -> String {
        guard has("sub") else { return text("prn", bytes: bytes) }
        let subject = text("sub", bytes: bytes)
        if let principal = optionalText("prn", bytes: bytes), !principal.utf8.elementsEqual(subject.utf8) {
            note(.malformed, "The claims prn and sub differ. Send one of them.")
        }
        return subject
    }

    /// `aud` (RFC 7519 §4.1.3): a string, or an array of strings of which one is the realm.
    mutating func audience(realm: String, required: Bool) {
        audience(among: [realm], required: required)
    }

    /// `aud` with several names of this service.
    ///
    /// - Parameter alone: whether no other audience may be named. Another server that is also an audience could show
    ///   the token here.
    mutating func audience(among names: @autoclosure () -> [String], required: Bool, alone: Bool = false) {
        guard required || has("aud") else { return }
        let names = names()
        // Only for sentences: most tokens need none.
        func expected() -> String { names.joined(separator: " or ") }
        let audience: [String?]
        switch payload["aud"] {
        case nil:
            note(.missingClaim, "The claim aud is missing: it is \(expected()).")
            return
        case .string(let text): audience = [text]
        case .array(let values): audience = values.map(\.text)
        default: audience = [nil]
        }
        guard !audience.contains(nil) else {
            note(.malformed, "The claim aud is neither a string nor an array of strings.")
            return
        }
        let known = audience.filter { text in names.contains { text?.utf8.elementsEqual($0.utf8) ?? false } }
        guard !known.isEmpty else {
            note(.wrongAudience, "The claim aud does not name \(expected()).")
            return
        }
        if alone, known.count < audience.count {
            note(.wrongAudience, "The claim aud names other services besides \(expected()).")
        }
    }

    /// `aud` and `azp` of an ID token (OpenID Connect Core 1.0 §3.1.3.7, steps 3 to 5).
    ///
    /// With one audience the token is for us, whichever client requested it: apps request tokens for their backend in
    /// this way. With several, `azp` says for which of them it is.
    ///
    /// - Returns: `azp`.
    mutating func party(of issuer: ProviderIssuer?) -> String? {
        let clients = issuer?.audiences ?? []
        audience(among: clients, required: true)
        let party = payload["azp"] == .null ? nil : optionalText("azp", bytes: 1...256)
        let named = audiences
        if named.count > 1 {
            switch party {
            case nil where payload["azp"] == nil || payload["azp"] == .null:
                note(
                    .wrongAudience, "The claim aud names several clients, and azp does not say which one.")
            case let party? where !(Self.has(party, clients) && Self.has(party, named)):
                note(
                    .wrongAudience,
                    "The claim azp names another client than \(clients.joined(separator: " or ")), or one that aud lacks."
                )
            default: break
            }
        } else if let party, let parties = issuer?.parties, !parties.isEmpty,
            !Self.has(party, parties + clients)
        {
            note(.wrongAudience, "The claim azp names a client that is not registered as a party of the provider.")
        }
        return party
    }

    private static func has(_ client: String, _ clients: [String]) -> Bool {
        clients.contains { $0.hasSameBytes(as: client) }
    }

    private var audiences: [String] {
        switch payload["aud"] {
        case .string(let text): [text]
        case .array(let values): values.compactMap(\.text)
        default: []
        }
    }

    /// `iat`, `exp` and the optional `nbf`, checked against `now` (RFC 7519 §4.1.4 to §4.1.6).
    mutating func validity(now: Date, clockSkew: TimeInterval, maximumLifetime: TimeInterval) -> Validity {
        var validity = Validity()
        let issuedAt = date("iat", required: true)
        let expiresAt = date("exp", required: true)
        if let issuedAt {
            validity.issuedAt = issuedAt
            future("iat", issuedAt.timeIntervalSince(now), clockSkew)
        }
        if let notBefore = date("nbf", required: false) {
            future("nbf", notBefore.timeIntervalSince(now), clockSkew)
        }
        if let expiresAt {
            validity.expiresAt = expiresAt
            let late = now.timeIntervalSince(expiresAt)
            if late >= clockSkew {
                note(
                    .expired,
                    "The claim exp was \(Self.seconds(late)) s ago by this server's clock, beyond"
                        + " \(Self.allowed(clockSkew)).")
            }
        }
        if let issuedAt, let expiresAt {
            let lifetime = expiresAt.timeIntervalSince(issuedAt)
            if lifetime <= 0 { note(.malformed, "The claim exp is not after iat.") }
            if lifetime > maximumLifetime {
                note(
                    .lifetimeTooLong,
                    "The token is valid for \(Self.seconds(lifetime)) s, from iat to exp. At most "
                        + "\(Self.seconds(maximumLifetime)) s are allowed.")
            }
        }
        return validity
    }

    /// `iat` of a token without `exp`: not in the future, and not older than `maximumAge`.
    mutating func issued(now: Date, clockSkew: TimeInterval, maximumAge: TimeInterval) -> Date {
        guard let issuedAt = date("iat", required: true) else { return .distantPast }
        let age = now.timeIntervalSince(issuedAt)
        future("iat", -age, clockSkew)
        if age > maximumAge + clockSkew {
            note(
                .expired,
                "The claim iat was \(Self.seconds(age)) s ago, more than the \(Self.seconds(maximumAge)) s allowed."
            )
        }
        return issuedAt
    }

    private mutating func future(_ name: String, _ early: TimeInterval, _ skew: TimeInterval) {
        guard early > skew else { return }
        note(
            .notYetValid,
            "The claim \(name) is \(Self.seconds(early)) s in the future by this server's clock, beyond"
                + " \(Self.allowed(skew)).")
    }

    private static func allowed(_ skew: TimeInterval) -> String { "the \(seconds(skew)) s allowed" }

    /// A NumericDate (RFC 7519 §2): seconds since 1970, with or without a fraction, up to the year 9999.
    mutating func date(_ name: String, required: Bool) -> Date? {
        let seconds: Double
        switch payload[name] {
        case nil:
            if required { note(.missingClaim, "The claim \(name) is missing.") }
            return nil
        case .integer(let value): seconds = Double(value)
        case .number(let value): seconds = value
        default:
            note(.malformed, "The claim \(name) is not a number of seconds since 1970.")
            return nil
        }
        guard (0..<253_402_300_800).contains(seconds) else {
            let hint = seconds > 0 ? ": is it in milliseconds?" : "."
            note(.malformed, "The claim \(name) is not a time between 1970 and 9999 in seconds\(hint)")
            return nil
        }
        return Date(timeIntervalSince1970: seconds)
    }

    /// Seconds for a sentence, rounded up so that a value beyond a limit also reads so.
    private static func seconds(_ interval: TimeInterval) -> Int {
        Int(saturating: interval.rounded(.up))
    }
}
