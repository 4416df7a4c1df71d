/// Data that the service no longer needs after it is archived. No decision depends on it, and the document is still
/// found by its blind index.
package enum ArchivedDatum: String, Sendable, CaseIterable {
    /// The address on the card.
    case postalAddress = "postal_address"
    /// The card's number; the card keeps its last four characters.
    case documentNumber = "document_number"
}
