import Foundation

/// All data that a user has proved, in one row: the product's `authenticatedUsers`.
package struct AuthenticatedUser: Sendable, Confidential {
    let userID: UserID
    /// Why the number is no longer verified; `nil` if it is verified.
    package let suspended: Suspension?
    /// The verified number in E.164 form.
    package let phoneNumber: String
    /// The full name on the card.
    package let fullName: String?
    /// The date of birth on the card.
    package let dateOfBirth: CalendarDate?
    /// The address on the card in one line.
    package let postalAddress: String?
    /// The document number of the card.
    package let documentNumber: String?
    /// The card's issuer: country and jurisdiction.
    package let jurisdiction: String?
    /// When the number was last verified.
    package let phoneVerifiedAt: Date
    package let identityVerifiedAt: Date?

    package init(
        userID: UserID, suspended: Suspension?, phoneNumber: String, fullName: String?, dateOfBirth: CalendarDate?,
        postalAddress: String?, documentNumber: String?, jurisdiction: String?, phoneVerifiedAt: Date,
        identityVerifiedAt: Date?
    ) {
        self.userID = userID
        self.suspended = suspended
        self.phoneNumber = phoneNumber
        self.fullName = fullName
        self.dateOfBirth = dateOfBirth
        self.postalAddress = postalAddress
        self.documentNumber = documentNumber
        self.jurisdiction = jurisdiction
        self.phoneVerifiedAt = phoneVerifiedAt
        self.identityVerifiedAt = identityVerifiedAt
    }
}

package extension AuthenticatedUser {
    /// Why a number is no longer verified.
    enum Suspension: String, Sendable {
        /// Another user of the provider has verified it since.
        case phoneReassigned = "phone_reassigned"
    }

    /// The user's age in whole years on a day.
    func age(on day: CalendarDate) -> Int? { dateOfBirth?.age(on: day) }

    /// The first letters of the first and the last name, which is all that strangers see of the name. A suffix that
    /// distinguishes generations, such as `Jr`, is skipped, and so are words without a letter.
    var initials: String? { Self.initials(of: fullName) }

    static func initials(of fullName: String?) -> String? {
        var words = fullName?.split(whereSeparator: \.isWhitespace) ?? []
        while words.count > 1, let last = words.last, generations.contains(last.uppercased()) {
            words.removeLast()
        }
        let letters = words.compactMap(firstLetter)
        guard let first = letters.first, let last = letters.last else { return nil }
        return String(String.UnicodeScalarView(letters.count > 1 ? [first, last] : [first]))
    }

    /// One letter, without marks that are not a part of it, and nothing else: other users' apps show it.
    private static func firstLetter(of word: Substring) -> Unicode.Scalar? {
        let character = word.first { $0.unicodeScalars.contains(where: PlainText.isLetter) }
        return character.flatMap { character in
            String(character).precomposedStringWithCanonicalMapping.unicodeScalars.first(where: PlainText.isLetter)
        }
    }

    private static let generations: Set<String> = [
        "JR", "JR.", "SR", "SR.", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "1ST", "2ND", "3RD", "4TH",
        "5TH", "6TH", "7TH", "8TH", "9TH",
    ]
}
