import Database
import Domain
import Repositories

/// What a user shows to other users of the provider in streams, and to the other side of a permission.
package struct PublicProfile: Sendable, Confidential {
    package let userID: UserID
    /// The user's address in the API: `<provider slug>/<external id>`.
    package let address: String
    /// How far the user's identity is proved.
    package let assurance: Assurance
    /// The name from the provider; `nil` if the provider sent none, and if it is not shown.
    package let displayName: String?
    /// The first letters of the name on the card; `nil` without a card, and if they are not shown.
    package let initials: String?
    /// The URL of the picture from the provider; `nil` if the provider sent none, and if it is not shown.
    package let pictureURL: String?

    /// The approximate maximum of bytes in a response. The URL is most of it.
    static let largest = 3072

    /// The data of a push about the user. Unknown ones are omitted.
    func pushData(withPicture: Bool) -> [(name: String, value: String)] {
        let all = [
            ("user_id", userID.description), ("address", address), ("display_name", displayName),
            ("initials", initials), ("picture_url", withPicture ? pictureURL : nil),
        ]
        return all.compactMap { name, value in value.map { (name: name, value: $0) } }
    }

    /// The approximate number of bytes in a response.
    var weight: Int {
        [address, displayName, pictureURL].reduce(128) { $0 + ($1?.utf8.count ?? 0) }
    }
}

/// The profiles of some users for one response. One query reads them, and each is opened once, when it is shown.
struct PublicProfiles {
    private let sealed: [UserID: PublicProfileRepository.Sealed]
    private let disclosure: MessageStreamPolicy.MemberDisclosure
    private let repository: PublicProfileRepository
    private var opened: [UserID: PublicProfile] = [:]

    /// Reads the profiles of the existing users among some.
    init(
        of users: some Sequence<UserID>, _ disclosure: MessageStreamPolicy.MemberDisclosure, keys: PersonalKeys,
        in transaction: any Transaction
    ) throws {
        repository = PublicProfileRepository(transaction, keys: keys)
        sealed = try repository.find(users)
        self.disclosure = disclosure
    }

    /// A user's level; `nil` if there is no such user.
    func level(of user: UserID) -> Assurance? { sealed[user]?.level }

    /// A user's profile, as far as the policy and the user's level disclose it; `nil` if there is no such user.
    mutating func find(_ user: UserID) throws -> PublicProfile? {
        if let known = opened[user] { return known }
        guard let found = sealed[user] else { return nil }
        let isNamed = disclosure == .names && found.level >= .phone
        let texts: PublicProfileRepository.Texts =
            try isNamed ? repository.open(found, of: user) : (displayName: nil, avatarURL: nil, fullName: nil)
        let card = found.level >= .barcode ? texts.fullName : nil
        let profile = PublicProfile(
            userID: user, address: found.address.text, assurance: found.level, displayName: texts.displayName,
            initials: AuthenticatedUser.initials(of: card), pictureURL: texts.avatarURL)
        opened[user] = profile
        return profile
    }

    /// A user's picture, whatever the policy and the level: the sides of a request see it.
    func findPicture(of user: UserID) throws -> String? {
        try sealed[user].flatMap { try repository.open($0, of: user).avatarURL }
    }

    /// A user's id and address without names, for readers who were removed: they see nothing later.
    func findAddress(of user: UserID) -> PublicProfile? {
        sealed[user].map {
            PublicProfile(
                userID: user, address: $0.address.text, assurance: $0.level, displayName: nil, initials: nil,
                pictureURL: nil)
        }
    }
}
