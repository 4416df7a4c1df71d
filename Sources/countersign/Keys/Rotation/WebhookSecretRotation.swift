import Crypto
import Domain
import Encoding
import Foundation

/// The rotation of the secret that signs webhooks. While the file has two lines, each message has a signature of both
/// (Standard Webhooks 1.0.0, "Webhook headers"), so the receiver may take the next secret at any time.
struct WebhookSecretRotation {
    private let rotation: KeyFileRotation
    private let file: KeyFile

    init(_ rotation: KeyFileRotation) {
        self.rotation = rotation
        file = KeyFiles.file(.webhookSecret, in: rotation.directory)
    }

    func run(_ step: RotationStep) throws(CommandFailure) -> RotationOutcome {
        let secrets = try KeyFiles.webhookSecrets(in: rotation.directory)
        guard let first = secrets.first else {
            throw CommandFailure(
                "\(file.path) is missing or empty: a secret in another file is rotated by hand, as Keys/README.md says."
            )
        }
        guard secrets.count <= 2 else {
            throw CommandFailure(
                "\(file.path) has more than two lines: remove those that the receiver does not accept.")
        }
        let kept: String
        switch step {
        case .stage:
            guard secrets.count == 1 else { return RotationOutcome(next: rotation.steps(.webhook, after: step)) }
            kept = first.reveal() + "\nwhsec_" + Data(rotation.randomBytes(32)).base64EncodedString()
        case .use:
            guard secrets.count == 2, let next = secrets.last,
                let digest = Self.digests(of: [next]).values.first
            else { throw KeyFileRotation.notStaged(.webhook) }
            try rotation.requireAccepted(digest, .webhookSecrets)
            kept = next.reveal()
        case .prune:
            throw CommandFailure(
                "The former secret goes when the next one is used: leave out --prune.", exitCode: .usage)
        }
        try file.replace(kept + "\n")
        return RotationOutcome(changed: [file.path], next: rotation.steps(.webhook, after: step))
    }

    /// The digests by which nodes compare the secrets, in the order of the file. A digest depends on the secret alone.
    static func digests(of secrets: [Secret<String>]) -> [Int: Digest256] {
        var digests: [Int: Digest256] = [:]
        for (index, secret) in secrets.enumerated() {
            let key = SymmetricKey(data: Data(secret.reveal().utf8))
            digests[index + 1] = NodeFingerprints.digest(of: key, .webhookSecrets)
        }
        return digests
    }
}

extension KeyFiles {
    /// The secrets that sign webhooks, one a line; empty if there is no such file.
    static func webhookSecrets(in directory: String) throws(CommandFailure) -> [Secret<String>] {
        let file = file(.webhookSecret, in: directory)
        guard file.exists else { return [] }
        return try file.read().split(whereSeparator: \.isWhitespace).map { Secret(String($0)) }
    }
}
