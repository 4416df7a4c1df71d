/// Refusals of identity cards and of their review.
package extension Refusal {
    static func barcodeTooLong(allowed: Int) -> Refusal {
        Refusal(
            .malformedRequest, "The text is longer than \(allowed) bytes, and no card has so many. Scan one barcode.",
            about: .barcode)
    }

    static let barcodeNotStreamSafe = Refusal(
        .malformedRequest,
        "The text has more than 30 combining marks in a row, and no card has so many. Send the barcode's own bytes.",
        about: .barcode)

    static let barcodeNotBase64 = Refusal(
        .malformedRequest, "The text is not base64. Encode the bytes of the barcode in it.", about: .barcode)

    static let barcodeWithoutHeader = Refusal(
        .malformedRequest,
        "The text has no AAMVA header. Send the whole text of the barcode in base64, from @ and \"ANSI \" on.",
        about: .barcode)

    static let barcodeWithoutElements = Refusal(
        .malformedRequest,
        "The text has a header but no data element. Keep the line feeds between the elements when you encode it.",
        about: .barcode)

    static let barcodeWithoutSeparators = Refusal(
        .malformedRequest,
        "All data elements are in one line. Keep the line feeds between them. A scanner that types like a keyboard "
            + "may turn them into blanks.", about: .barcode)

    static func tooManyElements(allowed: Int) -> Refusal {
        Refusal(
            .malformedRequest,
            "The text has more than \(allowed) data elements, and no card has so many. Scan one barcode.",
            about: .barcode)
    }

    static let incompleteTracks = Refusal(
        .malformedRequest,
        "The first two tracks of the magnetic stripe are not complete. Send everything from % to the last ?.",
        about: .barcode)

    static func zoneTooLong(allowed: Int) -> Refusal {
        Refusal(
            .malformedRequest, "The text is longer than \(allowed) bytes. Send only the lines of the zone.",
            about: .machineReadableZone)
    }

    static func wrongZoneLength(_ length: Int) -> Refusal {
        Refusal(
            .malformedRequest,
            "The zone has \(length) characters. TD1 has 3 lines of 30, TD2 2 of 36, TD3 2 of 44, padded with <.",
            about: .machineReadableZone)
    }

    static let wrongZoneCharacter = Refusal(
        .malformedRequest, "The zone has a character other than A to Z, 0 to 9 and <. Read it again.",
        about: .machineReadableZone)

    static let formerFrenchCard = Refusal(
        .malformedRequest,
        "This is the zone of a French identity card from before 2021, which has no expiry date and is not supported. "
            + "Show a passport or a newer card.", about: .machineReadableZone)

    static let wrongZoneKind = Refusal(
        .malformedRequest,
        "The zone does not begin with the code of an identity document: P on TD3, A, C or I on TD1 and TD2. "
            + "Read it again, or show another document.", about: .machineReadableZone)

    static func cardRejected(_ checks: [CardCheck]) -> Refusal {
        Refusal(
            .cardRejected, "The card did not pass every check. Read the failed ones, then show another card.",
            checks: checks)
    }

    static let unknownOwnCard = Refusal(.notFound, "You have shown no such card. Check the id.")

    static let unknownCard = Refusal(.notFound, "There is no such card. Check the id.")

    static let cardOfErasedUser = Refusal(
        .notFound, "The data of the card's user was erased. Nothing is left to decide.")

    static func reviewedDocumentBanned(by ban: BanID) -> Refusal {
        Refusal(
            .conflict, "The document is banned by ban \(ban). Lift the ban first, or reject the card.", state: "banned")
    }

    static func cardWithoutNumber(state: String) -> Refusal {
        Refusal(.conflict, "The user no longer has a verified phone number. Reject the card.", state: state)
    }

    static func notInReview(state: String) -> Refusal {
        Refusal(.conflict, "The card is not in review. It is already \(state).", state: state)
    }

    static func cardDecided(by actor: String) -> Refusal {
        Refusal(
            .conflict,
            "The card was decided by \(actor), and the decision takes effect within seconds. Open the next card.",
            state: "decided")
    }

    static func cardDecisionOfAnother(_ actor: String) -> Refusal {
        Refusal(.conflict, "Only \(actor), who decided, can undo the decision. Ask them.", state: "decided")
    }

    static func noCardDecision(state: String) -> Refusal {
        Refusal(
            .conflict, "The card has no decision that can be undone. Open the card to see what is in force.",
            state: state)
    }
}
