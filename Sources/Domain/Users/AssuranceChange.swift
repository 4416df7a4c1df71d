/// A user's assurance level was set: it rose, fell, or lapses at another time.
package struct AssuranceChange: Sendable, Equatable {
    package let userID: UserID
    package let providerID: ProviderID
    package let from: Assurance
    package let to: Assurance

    package init(userID: UserID, providerID: ProviderID, from: Assurance, to: Assurance) {
        self.userID = userID
        self.providerID = providerID
        self.from = from
        self.to = to
    }
}
