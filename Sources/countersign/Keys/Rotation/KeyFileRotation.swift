import Domain
import Encoding
import Foundation

/// The rotation of a key in a file, step by step. Each step asks first whether all live nodes are ready for it, so that
/// no step needs more than one node to be stopped at a time.
struct KeyFileRotation {
    let directory: String
    /// The live nodes of the store.
    let nodes: [ClusterMember]
    let now: Date
    let randomBytes: (Int) -> [UInt8]
    /// The end of the last certificate of the former authority.
    var lastEnd: Date?
    /// The administrators with a valid certificate of the former authority of administrators.
    var formerAdministrators: [String] = []
    /// How requests to wallets name the service.
    var walletName = WalletReader.NameKind.certificateHash
    /// The digest by which nodes compare a nonce secret.
    let nonceDigest: (Secret<[UInt8]>) -> Digest256

    /// Does a step.
    ///
    /// - Throws: ``CommandFailure`` if a node is not ready, or the key has no such step.
    func run(_ step: RotationStep, of key: RotatedKey) throws(CommandFailure) -> RotationOutcome {
        let lock = try KeysLock(directory: directory)
        defer { withExtendedLifetime(lock) {} }
        switch key {
        case .nonce: return try nonce(step)
        case .service: return try SigningKeyRotation(.service, self).run(step)
        case .accessToken: return try SigningKeyRotation(.accessToken, self).run(step)
        case .phoneCode: return try version(step, of: key, .phoneCodeSecrets, .phoneCodeKeys)
        case .blindIndex: return try version(step, of: key, .blindIndexSecrets, .blindIndexKeys)
        case .server: return try ServerKeyRotation(directory: directory, now: now, randomBytes: randomBytes).run(step)
        case .authority: return try AuthorityRotation(self).run(step)
        case .administratorAuthority: return try AdministratorAuthorityRotation(self).run(step)
        case .wallet: return try WalletKeyRotation(self).run(step)
        case .webhook: return try WebhookSecretRotation(self).run(step)
        case .wrapping: throw CommandFailure("The wrapping key is rotated with the store.")
        }
    }

    // MARK: Nonces

    /// How long a nonce and an export token of the former secret may still be shown, in seconds.
    static let tokensLive: TimeInterval = max(NoncePolicy.longestLifetime, 600)

    private func nonce(_ step: RotationStep) throws(CommandFailure) -> RotationOutcome {
        let file = KeyFiles.file(.nonceSecret, in: directory)
        var secrets = try KeyFiles.nonceSecrets(in: directory)
        switch step {
        case .stage:
            guard secrets.next == nil else { return RotationOutcome(next: steps(.nonce, after: .stage)) }
            guard secrets.former == nil else { throw Self.formerLeft }
            secrets.next = Secret(randomBytes(32))
        case .use:
            guard let next = secrets.next else { throw Self.notStaged(.nonce) }
            guard secrets.former == nil else { throw Self.formerLeft }
            try requireAccepted(nonceDigest(next), .nonceKey)
            (secrets.current, secrets.next, secrets.former) = (next, nil, secrets.current)
        case .prune:
            guard secrets.former != nil else { throw Self.nothingFormer(.nonce) }
            try requireUsed(nonceDigest(secrets.current), .nonceKey, for: Self.tokensLive)
            secrets.former = nil
        }
        try file.replace(secrets.text.reveal())
        return RotationOutcome(changed: [file.path], next: steps(.nonce, after: step))
    }

    /// The file has one former secret, so that another rotation would refuse nonces that are still valid.
    private static let formerLeft = CommandFailure(
        "nonce.key still has the former secret, which open sign-ins need: after a day run "
            + "`countersign keys rotate nonce --prune` first.")

    // MARK: Versions

    /// How long a code in a text may still be typed, in seconds: the longest `lifetime` in phones.yaml.
    static let codesLive: TimeInterval = 3600

    private func version(
        _ step: RotationStep, of key: RotatedKey, _ name: KeyFiles.Name, _ item: NodeFingerprints.Item
    ) throws(CommandFailure) -> RotationOutcome {
        let file = KeyFiles.file(name, in: directory)
        let secrets = try KeyFiles.secrets(name, in: directory)
        let newest = secrets.keys.max() ?? 0
        var kept = secrets
        switch step {
        case .stage:
            throw CommandFailure(
                "\(name.rawValue) needs no stage, because nodes accept all versions that they have: leave out --stage.",
                exitCode: .usage)
        case .use:
            for node in nodes {
                guard let theirs = node.fingerprints.items[item]?.keys.max(), theirs > newest else { continue }
                throw CommandFailure(
                    "The node on host \(node.host) has version \(theirs) of \(name.rawValue), and \(file.path) has "
                        + "\(newest): copy the file from there first.")
            }
            kept[newest + 1] = Secret(randomBytes(32))
        case .prune:
            guard key == .phoneCode else {
                throw CommandFailure(
                    "Rows and bans keep the version of \(name.rawValue) that they were made with: remove a line only as "
                        + "Keys/README.md says.")
            }
            guard secrets.count > 1 else { throw Self.nothingFormer(key) }
            for node in nodes where node.fingerprints.items[item]?.keys.max() != newest {
                throw Self.notReady(node)
            }
            try requireRunning(for: Self.codesLive, changedAt: file.changedAt)
            kept = secrets.filter { $0.key == newest }
        }
        let lines = kept.sorted { $0.key < $1.key }.map { KeyFiles.line(version: $0.key, $0.value.reveal()) }
        try file.replace(lines.joined())
        return RotationOutcome(changed: [file.path], next: steps(key, after: step))
    }
}

extension KeyFileRotation {
    // MARK: Nodes

    /// Returns if every live node accepts a key.
    func requireAccepted(_ digest: Digest256, _ item: NodeFingerprints.Item) throws(CommandFailure) {
        for node in readers(of: item) where node.fingerprints.items[item]?.values.contains(digest) != true {
            throw Self.notReady(node)
        }
    }

    /// Returns if every live node has used a key for a time, so that everything that the former key made has expired.
    func requireUsed(
        _ digest: Digest256, _ item: NodeFingerprints.Item, for seconds: TimeInterval
    ) throws(CommandFailure) {
        for node in readers(of: item) where node.fingerprints.items[item]?[1] != digest {
            throw Self.notReady(node)
        }
        try requireRunning(for: seconds, changedAt: nil)
    }

    /// The live nodes that read an item. The authority of administrators is read only by nodes that serve the console.
    private func readers(of item: NodeFingerprints.Item) -> [ClusterMember] {
        item == .administratorAuthority ? nodes.filter { $0.fingerprints.items[item] != nil } : nodes
    }

    private func requireRunning(for seconds: TimeInterval, changedAt: Date?) throws(CommandFailure) {
        guard let last = (nodes.map(\.startedAt) + [changedAt].compactMap(\.self)).max() else { return }
        let end = last.addingTimeInterval(seconds)
        guard now >= end else {
            throw CommandFailure(
                "What the former key made is valid until \(end.rfc3339): run this again after that time.")
        }
    }

    private static func notReady(_ node: ClusterMember) -> CommandFailure {
        CommandFailure(
            "The node on host \(node.host) has not read the new key: copy the file there, restart that node, and run "
                + "this again.")
    }

    static func notStaged(_ key: RotatedKey) -> CommandFailure {
        CommandFailure("No next key is staged: run `countersign keys rotate \(key.rawValue) --stage` first.")
    }

    static func nothingFormer(_ key: RotatedKey) -> CommandFailure {
        CommandFailure("There is no former key to remove. Nothing was changed.")
    }

    // MARK: Steps

    /// What the operator does after a step.
    func steps(_ key: RotatedKey, after step: RotationStep) -> [String] {
        let command = "countersign keys rotate \(key.rawValue)"
        let actions =
            switch (key, step) {
            case (.phoneCode, .use): ["Send SIGHUP to each node.", "After an hour run `\(command) --prune`."]
            case (.phoneCode, _), (.blindIndex, _): ["Send SIGHUP to each node."]
            case (.accessToken, .stage):
                [
                    "Restart the nodes one by one.", "Wait an hour, so that backends fetch the next public key.",
                    "Then run `\(command)`.",
                ]
            case (.authority, .stage):
                [
                    "Restart the nodes one by one.",
                    "Give devices and providers ca-next.pem too (`GET /certificates/authority` has both).",
                    "Then run `\(command)`.",
                ]
            case (.authority, .use):
                [
                    "Restart the nodes one by one.",
                    "When devices and providers trust ca.pem, run `countersign keys rotate server`.",
                    "When all certificates of the former authority have expired, run `\(command) --prune`.",
                ]
            case (.administratorAuthority, .stage):
                ["Restart the nodes that serve the console one by one.", "Then run `\(command)`."]
            case (.administratorAuthority, .use):
                [
                    "Restart the nodes that serve the console one by one.",
                    "Copy admin-ca.key and admin-ca.pem to the other hosts on which administrators are added.",
                    "Run `countersign admin renew NAME --out FILE` for each administrator with a certificate.",
                    "Then run `\(command) --prune`.",
                ]
            case (.administratorAuthority, .prune):
                ["Restart the nodes that serve the console one by one, at any time."]
            case (.wallet, .stage):
                [
                    "Request a certificate for wallet-next.key from the scheme of wallets, for example with `openssl req -new "
                        + "-key wallet-next.key -subj /CN=NAME`.",
                    "Store it and its chain in wallet-next.pem.", "Then run `\(command)`.",
                ]
            case (.wallet, _):
                [
                    "Send SIGHUP to all nodes at once.",
                    "Users whose wallet was about to answer on the same device begin again.",
                ]
            case (.webhook, .stage):
                [
                    "Restart the nodes one by one. Each message then has a signature of both secrets.",
                    "Give the receiver the second line of webhook.secret too.", "Then run `\(command)`.",
                ]
            case (.webhook, _):
                ["Restart the nodes one by one.", "Then remove the former secret from the receiver."]
            case (_, .stage): ["Restart the nodes one by one.", "Then run `\(command)`."]
            case (.nonce, .use): ["Restart the nodes one by one.", "After a day run `\(command) --prune`."]
            case (_, .use): ["Restart the nodes one by one.", "After an hour run `\(command) --prune`."]
            case (_, .prune): ["Restart the nodes one by one, at any time."]
            }
        return Self.elsewhere(key, after: step) + actions
    }

    /// The sentences about nodes with separate disks.
    static func elsewhere(_ key: RotatedKey, after step: RotationStep) -> [String] {
        let (copied, deleted) = files(of: key, after: step)
        func sentence(_ verb: String, _ names: [KeyFiles.Name], _ place: String) -> [String] {
            guard !names.isEmpty else { return [] }
            let list = names.map(\.rawValue).joined(separator: ", ")
            return ["If nodes have the keys on separate disks, \(verb) \(list) \(place)."]
        }
        return sentence("copy", copied, "to each of them") + sentence("delete", deleted, "on the other nodes")
    }

    /// The files that a step writes, and those that it removes. A copy of a removed one would undo the step.
    private static func files(
        of key: RotatedKey, after step: RotationStep
    ) -> (copied: [KeyFiles.Name], deleted: [KeyFiles.Name]) {
        switch (key, step) {
        case (.wrapping, _): ([.wrappingSecrets], [])
        case (.phoneCode, _): ([.phoneCodeSecrets], [])
        case (.blindIndex, _): ([.blindIndexSecrets], [])
        case (.nonce, _): ([.nonceSecret], [])
        case (.service, .stage): ([.nextServiceKey, .otherServiceKeys], [])
        case (.service, .use): ([.serviceKey, .retiredServiceKeys], [.nextServiceKey])
        case (.service, .prune): ([], [.otherServiceKeys])
        case (.accessToken, .stage): ([.nextAccessTokenKey, .otherAccessTokenKeys], [])
        case (.accessToken, .use): ([.accessTokenKey], [.nextAccessTokenKey])
        case (.accessToken, .prune): ([], [.otherAccessTokenKeys])
        case (.authority, .stage): ([.nextAuthorityKey, .nextAuthorityCertificate], [])
        case (.authority, .use):
            (
                [.authorityKey, .authorityCertificate, .formerAuthorityKey, .formerAuthorityCertificate],
                [.nextAuthorityKey, .nextAuthorityCertificate]
            )
        case (.authority, .prune): ([], [.formerAuthorityKey, .formerAuthorityCertificate])
        case (.administratorAuthority, .stage): ([.nextAdminAuthorityCertificate], [])
        case (.administratorAuthority, .use):
            ([.adminAuthorityCertificate, .formerAdminAuthorityCertificate], [.nextAdminAuthorityCertificate])
        case (.administratorAuthority, .prune): ([], [.formerAdminAuthorityCertificate])
        case (.wallet, .stage): ([], [])
        case (.wallet, _): ([.walletKey, .walletCertificate], [])
        case (.webhook, _): ([.webhookSecret], [])
        case (.server, _): ([.serverKey, .serverCertificate, .nextServerKey], [])
        }
    }
}
