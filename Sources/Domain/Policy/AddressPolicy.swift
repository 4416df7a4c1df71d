import Foundation

/// The limits of searches for other users: `Policies/addresses.yaml`.
package struct AddressPolicy: Sendable, Equatable {
    /// The level that a user needs to search for others.
    package var requiredLevel = Assurance.phone
    /// Addresses that one user, and one device, may look up in an hour.
    package var resolvesPerHour = 60
    /// How often in an hour one user may change what other users can find.
    package var changesPerHour = 30
    /// Evaluations of contact discovery for one verified number on one day (UTC).
    package var evaluationsPerDay = 2000
    /// Downloads of contact discovery that one user may make in an hour. Each is a bucket, or a part of a large one.
    package var downloadsPerHour = 600

    init() {}
}
