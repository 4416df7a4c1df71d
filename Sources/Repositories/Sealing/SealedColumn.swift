import Domain

/// A column with sealed content. Its place, table and column, is part of the sealing: see ``DataKey``.
///
/// The places are defined only here. If a place changes, older content no longer opens.
package struct SealedColumn: Sendable, Hashable {
    let table: String
    /// The column's name, as in its table.
    let name: String

    // Sealed under a wrapping key itself, because they belong to no user.
    static let banNote = SealedColumn(table: "bans", name: "sealed_note")
    static let banLiftNote = SealedColumn(table: "bans", name: "sealed_lift_note")

    /// The header that authenticates this service to a push receiver.
    static let streamAuthorization = SealedColumn(table: "event_streams", name: "sealed_authorization")

    static let all: [SealedColumn] = [
        userDisplayName, userAvatarURL, phoneNumber, pushEndpoint, callEndpoint, fullName, dateOfBirth,
        postalAddress, documentNumber, jurisdiction, verificationNumber, verificationPushEndpoint, cardFacts, cardInput,
        cardReason, presentationKey, presentationResult, ageProof,
        authorizationTo, authorizationEvent, outboxPayload, banNote, banLiftNote,
        streamAuthorization, memberMetadata, readerMetadata, streamOpening, streamMetadata, messageBody,
        messageMetadata,
    ]
}

package extension SealedColumn {
    // Sealed under the user's data key.
    static let userDisplayName = SealedColumn(table: "users", name: "display_name")
    static let userAvatarURL = SealedColumn(table: "users", name: "avatar_url")
    static let phoneNumber = SealedColumn(table: "authenticated_users", name: "phone_number")
    static let fullName = SealedColumn(table: "authenticated_users", name: "full_name")
    static let dateOfBirth = SealedColumn(table: "authenticated_users", name: "date_of_birth")
    static let postalAddress = SealedColumn(table: "authenticated_users", name: "postal_address")
    static let documentNumber = SealedColumn(table: "authenticated_users", name: "document_number")
    static let jurisdiction = SealedColumn(table: "authenticated_users", name: "jurisdiction")
    static let pushEndpoint = SealedColumn(table: "push_endpoints", name: "sealed_endpoint")
    static let callEndpoint = SealedColumn(table: "push_endpoints", name: "sealed_call_endpoint")
    static let verificationNumber = SealedColumn(table: "phone_verifications", name: "sealed_number")
    static let verificationPushEndpoint = SealedColumn(
        table: "phone_verifications", name: "sealed_push_endpoint")
    static let cardFacts = SealedColumn(table: "identity_cards", name: "sealed_facts")
    static let cardInput = SealedColumn(table: "identity_cards", name: "sealed_input")
    static let cardReason = SealedColumn(table: "identity_cards", name: "sealed_reason")
    /// The private keys for the answer of a wallet.
    static let presentationKey = SealedColumn(table: "presentations", name: "sealed_key")
    /// What a wallet presented, until its app redeems it.
    static let presentationResult = SealedColumn(table: "presentations", name: "sealed_result")
    static let ageProof = SealedColumn(table: "age_proofs", name: "sealed_ages")
    static let authorizationTo = SealedColumn(table: "authorizations", name: "sealed_to")
    static let authorizationEvent = SealedColumn(table: "authorizations", name: "sealed_event")
    /// The phone number of a text.
    static let outboxPayload = SealedColumn(table: "outbox", name: "payload")

    static let memberMetadata = SealedColumn(table: "stream_members", name: "sealed_metadata")
    /// The row names stream, message and user: see ``DataKey/sealMetadata(_:of:in:for:)``.
    static let readerMetadata = SealedColumn(table: "stream_event_readers", name: "sealed_metadata")

    // Sealed under the key of a stream of messages.
    static let streamOpening = SealedColumn(table: "streams", name: "sealed_opening")
    static let streamMetadata = SealedColumn(table: "streams", name: "sealed_metadata")
    static let messageBody = SealedColumn(table: "stream_events", name: "sealed_body")
    static let messageMetadata = SealedColumn(table: "stream_event_metadata", name: "sealed_metadata")
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
