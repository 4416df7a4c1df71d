import Crypto
import Domain
import Encoding
import Foundation

/// The rotation of the key that signs requests to wallets. A scheme of wallets certifies the next key before it is used.
/// Nodes need not agree: each request has the certificate of the node that signs it.
struct WalletKeyRotation {
    private let rotation: KeyFileRotation
    private let key: KeyFile
    private let certificate: KeyFile
    private let nextKey: KeyFile
    private let nextCertificate: KeyFile

    init(_ rotation: KeyFileRotation) {
        self.rotation = rotation
        func file(_ name: KeyFiles.Name) -> KeyFile { KeyFiles.file(name, in: rotation.directory) }
        key = file(.walletKey)
        certificate = file(.walletCertificate)
        nextKey = file(.nextWalletKey)
        nextCertificate = file(.nextWalletCertificate)
    }

    func run(_ step: RotationStep) throws(CommandFailure) -> RotationOutcome {
        var outcome = RotationOutcome(next: rotation.steps(.wallet, after: step))
        if step != .prune, key.exists, nextKey.exists, try nextKey.hasSameText(as: key) {
            // A run was stopped after it had replaced the key.
            if nextCertificate.exists {
                try certificate.replace(try nextCertificate.read())
                outcome.changed.append(certificate.path)
            }
            outcome.changed += try removeNext()
            if step == .use { return outcome }
        }
        switch step {
        case .stage: outcome.changed += try stage()
        case .use: outcome.changed += try use()
        case .prune:
            throw CommandFailure(
                "The former key goes when the next one is used: leave out --prune.", exitCode: .usage)
        }
        return outcome
    }

    /// Makes the next key. A key that exists is used, because the scheme may be about to certify it.
    private func stage() throws(CommandFailure) -> [String] {
        guard !nextKey.exists else {
            if nextCertificate.exists { try requireUsable() }
            return []
        }
        try nextKey.create(P256.Signing.PrivateKey().pemRepresentation + "\n")
        return [nextKey.path]
    }

    /// A node that starts between the key and its certificate finds a pair that does not match, and one that reloads keeps
    /// its own. The same command finishes both.
    private func use() throws(CommandFailure) -> [String] {
        guard nextKey.exists else { throw KeyFileRotation.notStaged(.wallet) }
        guard nextCertificate.exists else {
            throw CommandFailure(
                "\(nextCertificate.path) is missing: store the certificate there that the scheme of wallets issued for "
                    + "\(nextKey.path), and run this again.")
        }
        try requireUsable()
        try key.replace(try nextKey.read())
        try certificate.replace(try nextCertificate.read())
        return [key.path, certificate.path] + (try removeNext())
    }

    private func requireUsable() throws(CommandFailure) {
        let end = try WalletFiles.reader(in: rotation.directory, named: rotation.walletName, isNext: true).end
        guard end > rotation.now else {
            throw CommandFailure("\(nextCertificate.path) has expired: request another one from the scheme of wallets.")
        }
    }

    /// The certificate first: a key that is left alone is that in use, and the same command removes it.
    private func removeNext() throws(CommandFailure) -> [String] {
        var removed: [String] = []
        for file in [nextCertificate, nextKey] where file.exists {
            try file.remove()
            removed.append(file.path)
        }
        return removed
    }
}
