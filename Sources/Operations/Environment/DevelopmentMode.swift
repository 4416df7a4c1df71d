import Domain
import PhoneNumbers

/// What a service has in addition in development mode, on its developer's machine.
package struct DevelopmentMode: Sendable {
    /// Why a text that a developer waits for does not come.
    package enum Cause: Sendable, Equatable {
        /// The guard withheld it.
        case withheld(WithheldReason)
        /// The number's verification on this device is still open: the text of its start holds.
        case stillOpen

        /// One word, for the file of texts.
        package var word: String {
            switch self {
            case .withheld(let reason): reason.rawValue
            case .stillOpen: "still_open"
            }
        }
    }

    private let onMissing: @Sendable (PhoneNumber, Cause) -> Void

    /// - Parameter onMissing: called for each text that does not come, after the commit.
    package init(onMissing: @escaping @Sendable (PhoneNumber, Cause) -> Void) {
        self.onMissing = onMissing
    }

    /// Says why no text comes, if none does.
    ///
    /// - Parameter decision: the guard's; `nil` if no text was asked for.
    func note(_ decision: SendDecision?, _ number: PhoneNumber) {
        switch decision {
        case .send: return
        case .withhold(let reason, _): onMissing(number, .withheld(reason))
        case nil: onMissing(number, .stillOpen)
        }
    }
}
