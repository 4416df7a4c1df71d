import Domain
import Encoding
import Foundation

/// What the answer of a wallet proves, before it is stored.
enum PresentationResult: Sendable, Equatable, Confidential {
    /// - Parameter isStatusUnknown: whether a reviewer decides, because nobody can tell whether it was revoked.
    case identity(PresentedIdentity, isStatusUnknown: Bool)
    /// Whether the holder is as old as was asked.
    ///
    /// - Parameter credential: a digest of the credential that is another one each week; `nil` if it is not counted.
    case age(isReached: Bool, credential: Digest256?)
}

/// An answer by redirect that waits for its app.
struct ReceivedAnswer: Sendable, Confidential {
    /// The digest of what the wallet sent. A wallet that did not get the response sends it again.
    let digest: Digest256
    /// The code with which the app redeems the answer.
    let code: String
    let result: PresentationResult
}

extension ReceivedAnswer {
    /// The form that is encrypted.
    var text: String {
        var (identity, isStatusUnknown, age, credential): (JSONValue?, JSONValue?, JSONValue?, JSONValue?)
        switch result {
        case .identity(let shown, let isUnknown): (identity, isStatusUnknown) = (shown.json, .bool(isUnknown))
        case .age(let isReached, let counted):
            (age, credential) = (.bool(isReached), counted.map { .string($0.base64URL) })
        }
        return JSONValue.object([
            "answer": .string(digest.base64URL), "code": .string(code), "identity": identity,
            "status_unknown": isStatusUnknown, "age": age, "credential": credential,
        ]).jsonText
    }

    /// Parses `text`; `nil` for anything else.
    init?(text: String) {
        guard let json = try? StrictJSON.parse(Array(text.utf8)),
            let digest = Self.digest(json["answer"]), let code = json["code"]?.text
        else { return nil }
        let result: PresentationResult
        if let identity = json["identity"].flatMap({ PresentedIdentity(json: $0) }) {
            result = .identity(identity, isStatusUnknown: json["status_unknown"] == .bool(true))
        } else if case .bool(let isReached)? = json["age"] {
            result = .age(isReached: isReached, credential: Self.digest(json["credential"]))
        } else {
            return nil
        }
        self.init(digest: digest, code: code, result: result)
    }

    private static func digest(_ value: JSONValue?) -> Digest256? {
        value?.text.flatMap { Base64URL.decode($0) }.flatMap { Digest256($0) }
    }
}

extension PresentedIdentity {
    fileprivate var json: JSONValue {
        func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }
        return .object([
            "source": text(source.rawValue), "kind": text(kind.rawValue), "family_name": text(familyName),
            "given_name": text(givenName), "date_of_birth": text(dateOfBirth?.text),
            "issued_on": text(issuedOn?.text), "expires_on": text(expiresOn?.text),
            "document_number": text(documentNumber), "country": text(country), "jurisdiction": text(jurisdiction),
        ])
    }

    fileprivate init?(json: JSONValue) {
        guard let source = json["source"]?.text.flatMap(IdentityCard.Source.init),
            let kind = json["kind"]?.text.flatMap(IdentityCard.Kind.init)
        else { return nil }
        func date(_ name: String) -> CalendarDate? { json[name]?.text.flatMap { CalendarDate($0) } }
        self.init(
            source: source, kind: kind, familyName: json["family_name"]?.text, givenName: json["given_name"]?.text,
            dateOfBirth: date("date_of_birth"), issuedOn: date("issued_on"), expiresOn: date("expires_on"),
            documentNumber: json["document_number"]?.text, country: json["country"]?.text,
            jurisdiction: json["jurisdiction"]?.text)
    }
}
