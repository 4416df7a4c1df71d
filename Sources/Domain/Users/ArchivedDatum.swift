/// What the service can do without once an archive holds it: no decision rests on it, and the document is known again by
/// its blind index.
package enum ArchivedDatum: String, Sendable, CaseIterable {
    /// The address on the card.
    case postalAddress = "postal_address"
    /// The card's number; its last four characters stay with the card.
    case documentNumber = "document_number"
}
