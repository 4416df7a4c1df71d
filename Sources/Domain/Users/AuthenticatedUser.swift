import Foundation

/// The row that joins what a user has proved: the product's `authenticatedUsers`.
public struct AuthenticatedUser: Sendable, Confidential {
    /// Whose it is.
    public let userID: UserID
    /// Why the number no longer counts as the user's; `nil` while it does.
    public let suspended: Suspension?
    /// The proven number, E.164.
    public let phoneNumber: String
    /// Where pushes go: the ARN of an Amazon SNS endpoint.
    public let pushEndpoint: String?
    /// The name on the card.
    public let fullName: String?
    /// The birthday on the card.
    public let dateOfBirth: CalendarDate?
    /// The address on the card, one line.
    public let postalAddress: String?
    /// The number of the card.
    public let documentNumber: String?
    /// Who issued the card: country and jurisdiction.
    public let jurisdiction: String?
    /// When the number was proved last.
    public let phoneVerifiedAt: Date
    /// When the identity was.
    public let identityVerifiedAt: Date?

    /// Why a number no longer counts.
    public enum Suspension: String, Sendable {
        /// Another user of the same provider has proved it since.
        case phoneReassigned = "phone_reassigned"
    }

    /// Joins the parts.
    public init(
        userID: UserID, suspended: Suspension?, phoneNumber: String, pushEndpoint: String?, fullName: String?,
        dateOfBirth: CalendarDate?, postalAddress: String?, documentNumber: String?, jurisdiction: String?,
        phoneVerifiedAt: Date, identityVerifiedAt: Date?
    ) {
        self.userID = userID
        self.suspended = suspended
        self.phoneNumber = phoneNumber
        self.pushEndpoint = pushEndpoint
        self.fullName = fullName
        self.dateOfBirth = dateOfBirth
        self.postalAddress = postalAddress
        self.documentNumber = documentNumber
        self.jurisdiction = jurisdiction
        self.phoneVerifiedAt = phoneVerifiedAt
        self.identityVerifiedAt = identityVerifiedAt
    }

    /// The holder's age in whole years on a day.
    public func age(on day: CalendarDate) -> Int? { dateOfBirth?.age(on: day) }

    /// The first letters of the first and the last name: all that a stranger is shown of them. What stands behind a name
    /// to tell generations apart is no name.
    public var initials: String? {
        var words = fullName?.split(separator: " ") ?? []
        while words.count > 1, let last = words.last, Self.generations.contains(last.uppercased()) {
            words.removeLast()
        }
        guard let first = words.first?.first else { return nil }
        let last = words.count > 1 ? words.last?.first : nil
        return String([first] + (last.map { [$0] } ?? []))
    }

    private static let generations: Set<String> = [
        "JR", "JR.", "SR", "SR.", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "1ST", "2ND", "3RD", "4TH",
        "5TH", "6TH", "7TH", "8TH", "9TH",
    ]
}
