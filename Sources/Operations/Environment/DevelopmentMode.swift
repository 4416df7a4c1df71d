import Domain
import PhoneNumbers

/// Additional behaviour of a service in development mode, on its developer's machine.
package struct DevelopmentMode: Sendable {
    /// Why no text is sent.
    package enum Cause: Sendable, Equatable {
        /// The guard withheld it, for this reason.
        case withheld(SendGuard.WithheldReason)
        /// The number's verification on this device is still open, so the code of its first text is valid.
        case stillOpen

        /// The cause as one word, for the file of texts.
        package var word: String {
            switch self {
            case .withheld(let reason): reason.rawValue
            case .stillOpen: "still_open"
            }
        }
    }

    private let onMissing: @Sendable (PhoneNumber, Cause) -> Void

    /// - Parameter onMissing: called for each text that is not sent, after the commit.
    package init(onMissing: @escaping @Sendable (PhoneNumber, Cause) -> Void) {
        self.onMissing = onMissing
    }

    /// Reports why no text is sent, if none is.
    ///
    /// - Parameter decision: the guard's decision; `nil` if no text was requested.
    func note(_ decision: SendGuard.Decision?, _ number: PhoneNumber) {
        switch decision {
        case .send: return
        case .withhold(let reason, _): onMissing(number, .withheld(reason))
        case nil: onMissing(number, .stillOpen)
        }
    }
}
