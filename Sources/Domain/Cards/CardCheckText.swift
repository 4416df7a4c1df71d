import Encoding

package extension CardCheck {
    /// Whether the document and the person are new to the provider. The text does not name the other users.
    static func uniqueness(sameDocument: [UserID], samePerson: [UserID]) -> CardCheck {
        if !sameDocument.isEmpty {
            return CardCheck(.uniqueness, .failed, "Another user of the app has shown this document.")
        }
        if !samePerson.isEmpty {
            return CardCheck(.uniqueness, .failed, "Another user of the app has shown a card of this person.")
        }
        return CardCheck(.uniqueness, .passed, "No other user of the app has shown this document or person.")
    }

    /// Whether the card is of the person who was verified before; `nil` if nobody was.
    static func samePerson(_ isSame: Bool?) -> CardCheck {
        switch isSame {
        case nil: CardCheck(.samePerson, .notApplicable, "No card was verified before.")
        case true?: CardCheck(.samePerson, .passed, "Name and birthday are those of the card that was verified before.")
        case false?:
            CardCheck(.samePerson, .failed, "Name or birthday are not those of the card that was verified before.")
        }
    }

    /// The status of a wallet's credential, which nobody can tell.
    static let unknownStatus = CardCheck(
        .credentialStatus, .failed, "The issuer's status list has no answer for the credential.")

    /// A JSON array of objects with `name`, `result` and `detail`.
    static func json(_ checks: [CardCheck]) -> JSONValue {
        .array(
            checks.map { check in
                .object([
                    "name": .string(check.name.rawValue), "result": .string(check.result.rawValue),
                    "detail": .string(check.detail),
                ])
            })
    }

    static func jsonText(_ checks: [CardCheck]) -> String { json(checks).jsonText }

    /// Parses ``jsonText(_:)``. Checks that this version does not know are skipped.
    static func list(jsonText: String) -> [CardCheck] {
        guard case .array(let values)? = try? StrictJSON.parse(Array(jsonText.utf8)) else { return [] }
        return values.compactMap { value in
            guard let name = value["name"]?.text.flatMap(Name.init), let detail = value["detail"]?.text,
                let result = value["result"]?.text.flatMap(Result.init)
            else { return nil }
            return CardCheck(name, result, detail)
        }
    }
}
