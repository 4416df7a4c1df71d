import Domain
import Operations

/// Where the pages of objects are, for the pages of other features.
enum Links {
    static let search = Page.Link("Search", PagePath("/search"))
    static let bans = PagePath("/bans")
    static let newBan = PagePath("/bans/new")

    static func user(_ id: UserID) -> PagePath { PagePath("/users").appending(id.description) }
    static func device(_ id: DeviceID) -> PagePath { PagePath("/devices").appending(id.description) }
    static func session(_ id: SessionID) -> PagePath { PagePath("/sessions").appending(id.description) }
    static func ban(_ id: BanID) -> PagePath { bans.appending(id.description) }

    static func user(_ user: UserSummary) -> Page.Link { Page.Link(user.address, Self.user(user.user.id)) }

    /// The form of a new ban on a subject.
    static func newBan(_ kind: Ban.SubjectKind, _ subject: String) -> PagePath {
        newBan.adding("kind", kind.rawValue).adding("subject", subject)
    }
}

extension AdminRole {
    /// A link that only roles with a right get; others get the text.
    func link(_ text: String, _ path: PagePath, needing right: AdminRight) -> Markup {
        includes(right) ? Page.Link(text, path).markup : "<bdi>\(text)</bdi>"
    }
}
