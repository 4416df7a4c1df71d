import Domain

/// A column with sealed content. Its place, table and column, is part of the sealing: see ``DataKey``.
///
/// The places are defined only here. If a place changes, older content no longer opens.
package struct SealedColumn: Sendable, Hashable {
    package let table: String
    /// The column's name, as in its table.
    package let name: String

    // Sealed under the user's data key.
    package static let userDisplayName = SealedColumn(table: "users", name: "display_name")
    package static let userAvatarURL = SealedColumn(table: "users", name: "avatar_url")
    package static let phoneNumber = SealedColumn(table: "authenticated_users", name: "phone_number")
    package static let pushEndpoint = SealedColumn(table: "authenticated_users", name: "push_endpoint")
    package static let fullName = SealedColumn(table: "authenticated_users", name: "full_name")
    package static let dateOfBirth = SealedColumn(table: "authenticated_users", name: "date_of_birth")
    package static let postalAddress = SealedColumn(table: "authenticated_users", name: "postal_address")
    package static let documentNumber = SealedColumn(table: "authenticated_users", name: "document_number")
    package static let jurisdiction = SealedColumn(table: "authenticated_users", name: "jurisdiction")
    package static let verificationNumber = SealedColumn(table: "phone_verifications", name: "sealed_number")
    package static let verificationPushEndpoint = SealedColumn(
        table: "phone_verifications", name: "sealed_push_endpoint")
    package static let cardFacts = SealedColumn(table: "identity_cards", name: "sealed_facts")
    package static let cardInput = SealedColumn(table: "identity_cards", name: "sealed_input")
    package static let cardReason = SealedColumn(table: "identity_cards", name: "sealed_reason")
    package static let authorizationTo = SealedColumn(table: "authorizations", name: "sealed_to")
    package static let authorizationEvent = SealedColumn(table: "authorizations", name: "sealed_event")
    /// The phone number of a text.
    package static let outboxPayload = SealedColumn(table: "outbox", name: "payload")

    package static let memberMetadata = SealedColumn(table: "stream_members", name: "sealed_metadata")

    // Sealed under the key of a stream of messages.
    package static let streamOpening = SealedColumn(table: "streams", name: "sealed_opening")
    package static let streamMetadata = SealedColumn(table: "streams", name: "sealed_metadata")
    package static let messageBody = SealedColumn(table: "stream_events", name: "sealed_body")

    // Sealed under a wrapping key itself, because they belong to no user.
    static let banNote = SealedColumn(table: "bans", name: "sealed_note")
    static let banLiftNote = SealedColumn(table: "bans", name: "sealed_lift_note")

    /// The header that authenticates this service to a push receiver.
    static let streamAuthorization = SealedColumn(table: "event_streams", name: "sealed_authorization")

    static let all: [SealedColumn] = [
        userDisplayName, userAvatarURL, phoneNumber, pushEndpoint, fullName, dateOfBirth, postalAddress,
        documentNumber, jurisdiction, verificationNumber, verificationPushEndpoint, cardFacts, cardInput, cardReason,
        authorizationTo, authorizationEvent, outboxPayload, banNote, banLiftNote,
        streamAuthorization, memberMetadata, streamOpening, streamMetadata, messageBody,
    ]
}

extension Column where Content: ColumnContent {
    /// A sealed column, as its bytes.
    init(_ column: SealedColumn) { self.init(column.name) }
}

extension Field {
    /// A sealed column, as its bytes.
    init(
        _ column: SealedColumn, _ content: @escaping @Sendable (Record) -> Content,
        readAs expression: (@Sendable (_ table: String) -> String)? = nil
    ) {
        self.init(column.name, content, readAs: expression)
    }
}
