import Database
import Domain
import Foundation

/// The columns of `authenticated_users` from which a user is built. The others serve to find rows.
struct AuthenticatedUserColumns: ColumnSet {
    let userID: Column<UserID>
    let suspended: Column<AuthenticatedUser.Suspension?>
    let phoneNumber: Column<[UInt8]>
    let pushEndpoint: Column<[UInt8]?>
    let fullName: Column<[UInt8]?>
    let dateOfBirth: Column<[UInt8]?>
    let postalAddress: Column<[UInt8]?>
    let documentNumber: Column<[UInt8]?>
    let jurisdiction: Column<[UInt8]?>
    let phoneVerifiedAt: Column<Date>
    let identityVerifiedAt: Column<Date?>

    init(_ list: inout ColumnList) {
        userID = list.add("user_id")
        suspended = list.add("suspended")
        phoneNumber = list.add(.phoneNumber)
        pushEndpoint = list.add(.pushEndpoint)
        fullName = list.add(.fullName)
        dateOfBirth = list.add(.dateOfBirth)
        postalAddress = list.add(.postalAddress)
        documentNumber = list.add(.documentNumber)
        jurisdiction = list.add(.jurisdiction)
        phoneVerifiedAt = list.add("phone_verified_at")
        identityVerifiedAt = list.add("identity_verified_at")
    }

    /// The user's data, opened with the user's data key.
    func authenticatedUser(_ row: Row, _ key: DataKey) throws -> AuthenticatedUser {
        let user = try row[userID]
        func open(_ column: Column<[UInt8]?>, _ place: SealedColumn) throws -> String? {
            try row[column].map { try key.open($0, in: place, of: user) }
        }
        return AuthenticatedUser(
            userID: user, suspended: try row[suspended],
            phoneNumber: try key.open(try row[phoneNumber], in: .phoneNumber, of: user),
            pushEndpoint: try open(pushEndpoint, .pushEndpoint), fullName: try open(fullName, .fullName),
            dateOfBirth: try open(dateOfBirth, .dateOfBirth).flatMap { CalendarDate($0) },
            postalAddress: try open(postalAddress, .postalAddress),
            documentNumber: try open(documentNumber, .documentNumber),
            jurisdiction: try open(jurisdiction, .jurisdiction), phoneVerifiedAt: try row[phoneVerifiedAt],
            identityVerifiedAt: try row[identityVerifiedAt])
    }
}
