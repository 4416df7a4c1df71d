import Authority
import Crypto
import Domain
import Encoding
import Foundation
import Tokens

/// The rotation of a key that signs tokens: the next public key is published before the key is used, and the former one
/// as long as its signatures are valid.
struct SigningKeyRotation {
    private let rotation: KeyFileRotation
    private let key: RotatedKey
    private let item: NodeFingerprints.Item
    private let current: KeyFile
    private let next: KeyFile
    private let others: KeyFile

    /// How long an access token lives at most, in seconds.
    private static let tokensLive: TimeInterval = 3600

    /// - Parameter key: `service` or `access-token`.
    init(_ key: RotatedKey, _ rotation: KeyFileRotation) {
        self.rotation = rotation
        self.key = key
        let isService = key == .service
        item = isService ? .serviceKey : .accessTokenKeys
        func file(_ name: KeyFiles.Name) -> KeyFile { KeyFiles.file(name, in: rotation.directory) }
        current = file(isService ? .serviceKey : .accessTokenKey)
        next = file(isService ? .nextServiceKey : .nextAccessTokenKey)
        others = file(isService ? .otherServiceKeys : .otherAccessTokenKeys)
    }

    func run(_ step: RotationStep) throws(CommandFailure) -> RotationOutcome {
        var outcome = RotationOutcome(next: rotation.steps(key, after: step))
        let wasUsed = next.exists ? try publicKey(next) == publicKey(current) : false
        if wasUsed {
            // The key came from another node, or a run was stopped after it had replaced the current key.
            try next.remove()
            outcome.changed.append(next.path)
        }
        switch step {
        case .stage:
            // The public key is written last: it says that the step is done.
            if !next.exists {
                try next.create(try generate())
                outcome.changed = [next.path]
            }
            let published = try published()
            let added = try [current, next].map { file throws(CommandFailure) in try publicPEM(file) }
                .filter { !published.contains($0) }
            guard !added.isEmpty else { return outcome }
            try others.replace((published + added).joined())
            outcome.changed.append(others.path)
        case .use:
            guard !wasUsed else { return outcome }
            guard next.exists else { throw KeyFileRotation.notStaged(key) }
            try rotation.requireAccepted(try digest(next), item)
            if key == .service { outcome.changed += try retire() }
            try current.replace(try next.read())
            try next.remove()
            outcome.changed += [current.path, next.path]
        case .prune:
            guard !wasUsed || others.exists else { return outcome }
            guard !next.exists, others.exists else { throw KeyFileRotation.nothingFormer(key) }
            try rotation.requireUsed(try digest(current), item, for: Self.tokensLive)
            try others.remove()
            outcome.changed.append(others.path)
        }
        return outcome
    }

    /// Keeps the public key of the former service key, by which older checkpoints of the audit log are verified.
    private func retire() throws(CommandFailure) -> [String] {
        let file = KeyFiles.file(.retiredServiceKeys, in: rotation.directory)
        let retired = file.exists ? try file.read() : ""
        let former = try publicPEM(current)
        guard !retired.contains(former) else { return [] }
        try file.replace(retired + (retired.isEmpty || retired.hasSuffix("\n") ? "" : "\n") + former)
        return [file.path]
    }

    private func generate() throws(CommandFailure) -> String {
        do {
            return try key == .service
                ? SigningKey.generate().pem.reveal() : AccessTokenKeys.generate().reveal()
        } catch {
            throw CommandFailure("\(next.path) cannot be created: no key could be made. Run this again.")
        }
    }

    /// The published public keys, as PEM documents.
    private func published() throws(CommandFailure) -> [String] {
        guard others.exists else { return [] }
        let end = "-----END PUBLIC KEY-----"
        return try others.read().components(separatedBy: end).dropLast().map { part in
            part.drop { $0.isWhitespace } + end + "\n"
        }
    }

    private func publicKey(_ file: KeyFile) throws(CommandFailure) -> [UInt8] {
        do {
            return try SigningKey(pem: try file.read()).subjectPublicKeyInfo
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("\(file.path) is not a private key in PEM: restore it from its backup.")
        }
    }

    private func publicPEM(_ file: KeyFile) throws(CommandFailure) -> String {
        let text = Data(try publicKey(file)).base64EncodedString(options: [
            .lineLength64Characters, .endLineWithLineFeed,
        ])
        return "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
    }

    /// The digest by which nodes compare the key.
    private func digest(_ file: KeyFile) throws(CommandFailure) -> Digest256 {
        do {
            let verification = try VerificationKey(
                subjectPublicKeyInfo: try publicKey(file), algorithm: key == .service ? .es256 : .rs256)
            return Digest256.of(PublishedKey(verification).id)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("\(file.path) is not a key of the right type: restore it from its backup.")
        }
    }
}
