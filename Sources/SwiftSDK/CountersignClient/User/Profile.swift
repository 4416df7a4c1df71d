import Foundation
import HTTPTypes

/// The user's proven data: `GET /me`.
public struct Profile: Sendable, Hashable, Decodable {
    public let userID: UUID
    public let address: String
    public let assurance: Assurance
    /// The phone number in E.164 form.
    public let phoneNumber: String?
    public let fullName: String?
    public let postalAddress: String?
    public let age: Int?
    /// The last four characters of the document's number.
    public let documentNumber: String?
    /// The state or country that issued the document.
    public let jurisdiction: String?
    /// The reason for the suspension of the level, such as `phone_reassigned`.
    public let suspended: String?
    /// How long the service stores messages that the user writes or gets.
    public let messageStorage: MessageStorage?
    /// Whether other users see when the user is online.
    public let presence: UserPresence.Visibility

    private enum CodingKeys: String, CodingKey {
        case address, assurance, age, jurisdiction, suspended, presence
        case userID = "user_id"
        case phoneNumber = "phone_number"
        case fullName = "full_name"
        case postalAddress = "postal_address"
        case documentNumber = "document_number"
        case messageStorage = "message_storage"
    }
}

extension Countersign {
    /// Reads the user's proven data.
    public func profile() async throws(Refusal) -> Profile {
        try await perform(Call(.get, "/me"))
    }

    /// Sets how long the service stores messages that the user writes or gets. It applies to later messages.
    public func setMessageStorage(_ storage: MessageStorage) async throws(Refusal) -> Profile {
        try await perform(Call(.patch, "/me", json: ["message_storage": storage.rawValue]))
    }
}
