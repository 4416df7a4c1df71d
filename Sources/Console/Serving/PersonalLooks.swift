import Domain
import Encoding
import Operations
import Synchronization

/// Whether a request has counted its look at a person.
final class PersonalLooks: Sendable {
    private let value = Mutex(false)

    var areCounted: Bool { value.withLock { $0 } }

    fileprivate func note() { value.withLock { $0 = true } }
}

extension ConsoleRequest {
    /// Counts the look at users, each for itself, before their data is shown.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func look(at users: [UserID]) throws(Refusal) {
        for user in users { try look(by: Digest256.of("user \(user)"), at: [user]) }
    }

    /// Says that the page has nobody's data.
    func looksAtNobody() { looks.note() }

    /// Counts the look at what a number, document, device or ban leads to. A single user is the same person as on the
    /// user's own page.
    ///
    /// - Parameters:
    ///   - name: a digest of what leads to the person.
    ///   - users: empty until the person is known.
    /// - Throws: `Refusal` `rate_limited`.
    func look(by name: Digest256, at users: [UserID] = []) throws(Refusal) {
        looks.note()
        try parts.service.countLook(at: name, of: users, by: administrator)
    }
}
