import Domain
import Foundation

/// What an operator is told of nodes that do not agree. No sentence holds a digest.
enum NodeRefusal {
    /// Why a node may not serve, and the step that mends it; `nil` where it may.
    static func failure(_ verdict: NodeAgreement, _ settings: Settings) -> CommandFailure? {
        switch verdict {
        case .agreed: return nil
        case .behind(let version):
            let path = KeyFiles.path(.wrappingSecrets, settings.keys)
            return CommandFailure(
                "\(path) lacks version \(version), which is in force: copy wrapping.key from a node that has it, or from "
                    + "its backup.")
        case .otherKeys(let items):
            return CommandFailure(items.map { otherKey($0, in: settings.keys) }.joined(separator: "\n"))
        case .refused(let disagreement), .undecided(let disagreement):
            return CommandFailure(
                disagreement.differences.map { sentence($0, disagreement, settings) }.joined(separator: "\n"))
        }
    }

    /// Why keys cannot be used with a store, and what to do.
    static func otherKey(_ item: NodeFingerprints.Item, in directory: String) -> String {
        "\(directory)/\(item.rawValue) is not the key that this store was written with: give the directory of its keys "
            + "(--keys), or restore the file from its backup."
    }

    /// The same of a node that serves already, in one sentence for the log.
    static func summary(_ disagreement: NodeDisagreement) -> String {
        let names = disagreement.differences.map(\.name).joined(separator: ", ")
        return "this node and the one on host \(disagreement.node.host) do not agree on \(names)"
    }

    /// What is said of a store that came to its server as a dump: a move loses nothing, but an older backup has everything
    /// that was taken back since.
    static let foreignLog = (
        what: "another server wrote the change log, as if a dump of it was restored here",
        mend: "after a move start the service, which begins the log anew; for a backup stop all nodes and run "
            + "`countersign store restore --in-place`"
    )

    private static func sentence(
        _ difference: NodeDifference, _ disagreement: NodeDisagreement, _ settings: Settings
    ) -> String {
        let host = disagreement.node.host
        let other = "the node on host \(host), seen \(Int(disagreement.age)) s ago"
        switch difference {
        case .policy(let file):
            return "\(settings.policies)/\(file) says something else than on \(other): make the files alike, or start "
                + "with --allow-other-policies while a change is rolled out."
        case .shared(.realm):
            return "The realm \(settings.realm) is not the one of \(other): start with the same --realm."
        case .shared(let item):
            let path = settings.keys + "/" + item.rawValue
            return "\(path) is not the one of \(other): \(remedy(item, path, host))"
        }
    }

    private static func remedy(_ item: NodeFingerprints.Item, _ path: String, _ host: String) -> String {
        switch item {
        case .blindIndexKeys, .phoneCodeKeys, .wrappingKeys:
            "make \(item.rawValue) the same there and here, and send that node SIGHUP where its file is the older one."
        case .nonceKey:
            "copy nonce.key from there. A new one, and the time after a restored store, want all nodes stopped first."
        case .authority: "copy ca.pem and ca.key (or ca.uri) from there. A new authority wants all nodes stopped first."
        case .serverKeys: "copy server.key, server-next.key and server.pem from there."
        case .serviceKey: "copy service.key from there. A new one wants all nodes stopped first."
        case .accessTokenKeys:
            "copy access-token.key from there, or put its public half into access-token-others.pem here."
        case .realm: "start with the same --realm."
        }
    }
}

extension NodeDifference {
    fileprivate var name: String {
        switch self {
        case .shared(let item): item.rawValue
        case .policy(let file): file
        }
    }
}
