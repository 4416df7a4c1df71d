import Foundation
import PhoneNumbers

/// The types of address by which other users may find a user. The raw values are the contract's.
package enum AddressType: String, Sendable, CaseIterable {
    /// The user's verified phone number.
    case phone
    /// `<provider slug>/<external id>`: what the provider vouches for.
    case name
}

/// The address of a user that a caller searches for.
package enum SoughtAddress: Sendable, Confidential {
    case phone(PhoneNumber)
    case name(Slug, externalID: String)

    /// Parses an E.164 number, which begins with `+` or is a `tel:` link, or `<provider slug>/<external id>`.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    package init(_ text: String) throws(Refusal) {
        if text.hasPrefix("+") || PhoneNumber.isLink(text) {
            self = .phone(try PhoneNumber(fromCaller: text))
        } else if case .address(let slug, let externalID)? = try? AuthorizationAddress(text) {
            self = .name(slug, externalID: externalID)
        } else {
            throw Refusal.unreadableAddress
        }
    }
}
