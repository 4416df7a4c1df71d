import Domain
import Foundation

/// Messages for the operator about nodes that disagree. They never contain a digest.
enum NodeRefusal {
    /// Why this node must not serve, and what to do; `nil` if it may serve.
    static func failure(_ verdict: NodeAgreement, _ settings: Settings) -> CommandFailure? {
        switch verdict {
        case .agreed: return nil
        case .behind(let version):
            let path = KeyFiles.path(.wrappingSecrets, settings.keys)
            return CommandFailure(
                "\(path) lacks version \(version), which is in use: copy wrapping.key from a node that has it, or from "
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
        "\(directory)/\(item.rawValue) is not the key that this store was written with: name the directory of its keys "
            + "with --keys, or restore the file from its backup."
    }

    /// A disagreement in one sentence, for the log of a node that already serves.
    static func summary(_ disagreement: NodeAgreement.Disagreement) -> String {
        let names = disagreement.differences.map(\.name).joined(separator: ", ")
        return "this node and the one on host \(disagreement.node.host) disagree on \(names)"
    }

    /// The message if another server wrote the change log. After a move nothing is lost. After restoring an older
    /// backup, everything that was revoked since is valid again.
    static let foreignLog = (
        what: "another database server wrote the change log, as after restoring a dump",
        mend: "after a move start the service, which starts a new log; after a backup stop all nodes and run "
            + "`countersign store restore --in-place`"
    )

    private static func sentence(
        _ difference: NodeFingerprints.Difference, _ disagreement: NodeAgreement.Disagreement, _ settings: Settings
    ) -> String {
        let host = disagreement.node.host
        let other = "the node on host \(host), seen \(Int(disagreement.age)) s ago"
        switch difference {
        case .policy(let file):
            return "\(settings.policies)/\(file) differs from the file on \(other): make the files equal, or start "
                + "with --allow-other-policies during a rollout."
        case .shared(.realm):
            return "The realm \(settings.realm) differs from the realm of \(other): start with the same --realm."
        case .shared(let item):
            let path = settings.keys + "/" + item.rawValue
            return "\(path) differs from the file on \(other): \(remedy(item, path, host))"
        }
    }

    private static func remedy(_ item: NodeFingerprints.Item, _ path: String, _ host: String) -> String {
        switch item {
        case .blindIndexKeys, .phoneCodeKeys, .wrappingKeys:
            "make \(item.rawValue) equal on both nodes, and send SIGHUP to that node if its file is older."
        case .nonceKey:
            "copy nonce.key from there. A new key is staged first (`keys rotate nonce --stage`). After a restore, stop all "
                + "nodes."
        case .authority:
            "copy ca.pem and ca.key (or ca.uri) from there, and the files ca-next and ca-former that are there. A new "
                + "authority is staged first (`keys rotate ca --stage`)."
        case .administratorAuthority:
            "copy admin-ca.pem from there, and the files admin-ca-next.pem and admin-ca-former.pem that are there. A new "
                + "authority is staged first (`keys rotate admin-ca --stage`)."
        case .serverKeys: "copy server.key, server-next.key and server.pem from there."
        case .serviceKey:
            "copy service.key and service-others.pem from there. A new key is staged first (`keys rotate service --stage`)."
        case .accessTokenKeys:
            "copy access-token.key from there, or add its public key to access-token-others.pem here."
        case .webhookSecrets:
            "copy webhook.secret from there. A new one is staged first (`keys rotate webhook --stage`)."
        case .realm: "start with the same --realm."
        }
    }
}

extension NodeFingerprints.Difference {
    fileprivate var name: String {
        switch self {
        case .shared(let item): item.rawValue
        case .policy(let file): file
        }
    }
}
