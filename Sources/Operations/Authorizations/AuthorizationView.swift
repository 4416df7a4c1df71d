import Database
import Domain
import Foundation
import Repositories

/// The data of one side of an authorization that the other side sees: no number and no birthday. Before the approval it
/// has no id, address or name.
package struct AuthorizationPartner: Sendable, Confidential {
    /// The user's id, address and name, only for users who may message them.
    package let profile: PublicProfile?
    /// The first letters of the name on the card; `nil` if no card was shown, or its level has expired.
    package let initials: String?
    /// The user's age today, by the card.
    package let age: Int?
    /// The URL of the picture from the provider.
    package let pictureURL: String?
    /// How far the user's identity is proved.
    package let assurance: Assurance
    /// The endpoint that a device of the user registered last, only for users who may message them.
    package let pushEndpoint: String?

    /// Finds a user. The card's data is included while the user has the level that the card gave.
    ///
    /// - Parameter disclosure: what the policy shows of users who may message each other; `nil` before the approval,
    ///   which shows neither a profile nor an endpoint.
    static func find(
        _ user: UserID, disclosing disclosure: MessageStreamPolicy.MemberDisclosure? = nil, keys: PersonalKeys,
        in transaction: any Transaction
    ) throws -> AuthorizationPartner? {
        var profiles = try PublicProfiles(of: [user], disclosure ?? .ids, keys: keys, in: transaction)
        guard let profile = try profiles.find(user) else { return nil }
        let proved = try AuthenticatedUserRepository(transaction, keys: keys).find(user)
        let devices = try disclosure == nil ? [] : PushEndpointRepository(transaction, keys: keys).list(of: user)
        let card = profile.assurance >= .barcode ? proved : nil
        return AuthorizationPartner(
            profile: disclosure == nil ? nil : profile, initials: card?.initials,
            age: card?.age(on: CalendarDate(utcDayOf: transaction.now)), pictureURL: try profiles.findPicture(of: user),
            assurance: profile.assurance, pushEndpoint: devices.lazy.compactMap(\.endpoints.usual).first)
    }
}

/// An authorization as one of its sides sees it.
package struct AuthorizationView: Sendable {
    /// The authorization with its state at the current time.
    package let authorization: MessagingPermission
    package let box: MessagingPermission.Box
    /// The recipient as the requester named them; `nil` for the other side.
    package let to: String?
    /// The event, as the requester named it; `nil` for the other side.
    package let eventID: String?
    /// The other side: for the recipient while the request is open, and for both once it is approved.
    package let partner: AuthorizationPartner?
    /// `<requester> -> <recipient>` while the two may message each other.
    package let grant: String?

    /// An authorization as one side sees it. The other side's data and the permission are included only while both
    /// are verified.
    init(
        _ authorization: MessagingPermission, _ box: MessagingPermission.Box, parties: AuthorizationParties,
        of service: Service
    ) throws {
        let (transaction, keys) = (parties.transaction, service.keys.personal)
        var shown = authorization
        shown.state = authorization.state(now: transaction.now)
        self.authorization = shown
        self.box = box
        let (ownID, partnerID) =
            box == .outgoing ? (shown.requesterID, shown.recipientID) : (shown.recipientID, shown.requesterID)
        let isShown = shown.state == .approval || (shown.state == .request && box == .incoming)
        let mayShow = try isShown && parties.mayTakePart(ownID) && parties.mayTakePart(partnerID)
        let disclosure = shown.state == .approval ? service.policy[\.streams].members : nil
        partner = try (mayShow ? partnerID : nil).flatMap {
            try AuthorizationPartner.find($0, disclosing: disclosure, keys: keys, in: transaction)
        }
        grant = partner == nil ? nil : shown.grant
        var words: SealedRequest?
        if box == .outgoing, let requesterID = shown.requesterID {
            words = try SealedRequest.open(shown, of: requesterID, keys: keys, in: transaction)
        }
        to = words?.to
        eventID = words?.eventID
    }
}
