import Domain
import Encoding

extension Ban.SubjectKind {
    var words: String {
        switch self {
        case .user: "A user of one provider"
        case .phone: "A telephone number, for the users of all providers"
        case .document: "A document, for the users of all providers"
        case .device: "A device, for all of its users"
        }
    }
}

extension Ban.Scope {
    var words: String {
        switch self {
        case .all: "all: signing in is refused"
        case .messaging: "messaging: signing in stays allowed"
        }
    }
}

extension BanEntry.Subject {
    /// A link to a user or device. Numbers and documents are shown by their blind indexes, because nothing else of them
    /// is stored.
    var markup: Markup {
        switch self {
        case .user(let id): Page.Link("user \(id)", Links.user(id)).markup
        case .phone(let index): "number \(index.base64URL)"
        case .document(let index): "document \(index.base64URL)"
        case .device(let id): Page.Link("device \(id)", Links.device(id)).markup
        case .deviceKey(let hash): "device key \(hash.base64URL)"
        }
    }
}

extension BanEntry.Origin {
    var words: String {
        switch self {
        case .direct: "named by the ban"
        case .derived: "belongs to the named user"
        case .holder: "has the banned number or document"
        }
    }
}
