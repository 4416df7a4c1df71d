import Encoding

/// The revocation lists of the authorities that a node trusts. Only an authority's own list is valid for the
/// certificates that it issued (RFC 5280 §6.3.3).
package struct RevocationLists: Sendable {
    /// The current authority's list first.
    private let lists: [PublishRevocationList]
}

package extension RevocationLists {
    init(_ lists: [PublishRevocationList]) {
        self.lists = lists
    }

    /// Records that a certificate may have been revoked.
    func suspect() {
        for list in lists { list.suspect() }
    }

    /// The list of an authority.
    ///
    /// - Parameter authority: the digest of its key in base64url; `nil` for the current authority.
    func of(_ authority: String?) -> PublishRevocationList? {
        guard let authority else { return lists.first }
        return lists.first { $0.authorityID.base64URL.utf8.elementsEqual(authority.utf8) }
    }
}
