import Foundation

/// Who may find whom: `Policies/addresses.yaml`.
package struct AddressPolicy: Sendable, Equatable {
    /// The level that a user needs to look for others.
    package var requiredLevel = Assurance.phone
    /// Addresses that one user, and one device, may look up in an hour.
    package var resolvesPerHour = 60
    /// How often one user may change in an hour what others can find.
    package var changesPerHour = 30

    package init() {}
}
