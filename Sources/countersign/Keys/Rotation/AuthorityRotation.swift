import Authority
import Domain
import Encoding
import Foundation

/// The rotation of the internal authority. Nodes trust the next authority before it signs, and the former one while its
/// certificates are valid. Each authority signs its own revocation list.
struct AuthorityRotation {
    private let rotation: KeyFileRotation
    private let current: AuthorityFiles
    private let next: AuthorityFiles
    private let former: AuthorityFiles

    init(_ rotation: KeyFileRotation) {
        self.rotation = rotation
        current = AuthorityFiles(.current, in: rotation.directory)
        next = AuthorityFiles(.next, in: rotation.directory)
        former = AuthorityFiles(.former, in: rotation.directory)
    }

    func run(_ step: RotationStep) throws(CommandFailure) -> RotationOutcome {
        var outcome = RotationOutcome(next: rotation.steps(.authority, after: step))
        if next.secret.exists, try hasSameSecret(next, current) {
            // The key came from another node, or a run was stopped after it had replaced the current key.
            try current.take(secretOf: next)
            if next.certificate.exists, try !next.certificate.hasSameText(as: current.certificate) {
                try current.certificate.replace(try next.certificate.read())
                outcome.changed.append(current.certificate.path)
            }
            outcome.changed += try next.remove()
            if step == .use { return outcome }
        }
        switch step {
        case .stage: outcome.changed += try stage()
        case .use: outcome.changed += try use()
        case .prune: outcome.changed += try prune()
        }
        return outcome
    }

    /// Makes the next key and its certificate. A key or URI that is there is used: the key may be in a module, and the
    /// certificate may be from a root above.
    private func stage() throws(CommandFailure) -> [String] {
        guard !next.certificate.exists else {
            // It must be usable before it is copied.
            _ = try KeyFiles.authorities(in: rotation.directory)
            return []
        }
        guard !former.certificate.exists else { throw Self.formerLeft }
        var changed: [String] = []
        if !next.secret.exists {
            guard !current.uri.exists else {
                throw CommandFailure(
                    "The authority's key is in a hardware module: make another key there, and write its URI into "
                        + "\(next.uri.path) first.")
            }
            try next.key.create(try making(next.key) { try SigningKey.generate().pem.reveal() })
            changed.append(next.key.path)
        }
        let key = try KeyFiles.signingKeyOfAuthority(in: rotation.directory, .next)
        let made = try making(next.certificate) {
            try KeyCreation.root(of: key, serial: rotation.randomBytes(16), now: rotation.now)
        }
        try next.certificate.create(made.chainPEM.joined())
        return changed + [next.certificate.path]
    }

    /// The former pair is written before the current one is replaced, the key before its certificate. A node that starts
    /// between the two finds a pair that does not match. The same command finishes all.
    private func use() throws(CommandFailure) -> [String] {
        guard next.certificate.exists else { throw KeyFileRotation.notStaged(.authority) }
        if former.secret.exists, try !hasSameSecret(former, current) { throw Self.formerLeft }
        let authorities = try KeyFiles.authorities(in: rotation.directory)
        guard let staged = authorities.next else { throw KeyFileRotation.notStaged(.authority) }
        guard staged.notAfter > rotation.now else {
            throw CommandFailure("\(next.certificate.path) has expired: delete it, and stage the next authority again.")
        }
        try rotation.requireAccepted(staged.fingerprint, .authority)
        try former.take(secretOf: current)
        try former.certificate.replace(try current.certificate.read())
        try current.take(secretOf: next)
        try current.certificate.replace(try next.certificate.read())
        return [
            former.secret.path, former.certificate.path, current.secret.path, current.certificate.path,
        ] + (try next.remove())
    }

    private func prune() throws(CommandFailure) -> [String] {
        guard former.certificate.exists else {
            // A run was stopped after it had removed the certificate.
            let left = try former.remove()
            guard !left.isEmpty else { throw KeyFileRotation.nothingFormer(.authority) }
            return left
        }
        let authorities = try KeyFiles.authorities(in: rotation.directory)
        try rotation.requireUsed(authorities.current.fingerprint, .authority, for: 0)
        if let former = authorities.former {
            let server = KeyFiles.file(.serverCertificate, in: rotation.directory)
            let certificate = try server.read()
            guard !former.hasIssued(certificate) else {
                throw CommandFailure(
                    "\(server.path) is still a certificate of the former authority: give devices and providers ca.pem, "
                        + "and run `countersign keys rotate server` first.")
            }
            if let end = rotation.lastEnd, end > rotation.now {
                throw CommandFailure(
                    "Certificates of the former authority are valid until \(end.rfc3339): run this again after that time."
                )
            }
        }
        return try former.remove()
    }

    /// There is one former authority, so that another rotation would refuse devices.
    private static let formerLeft = CommandFailure(
        "The former authority is still trusted, because its certificates may be valid: run `countersign keys rotate ca "
            + "--prune` first.")

    private func hasSameSecret(_ one: AuthorityFiles, _ other: AuthorityFiles) throws(CommandFailure) -> Bool {
        guard other.secret.exists else { return false }
        return try one.secret.hasSameText(as: other.secret)
    }

    private func making<Value>(_ file: KeyFile, _ body: () throws -> Value) throws(CommandFailure) -> Value {
        do {
            return try body()
        } catch let error as AuthorityError {
            throw CommandFailure("\(file.path) cannot be created: \(error.description)")
        } catch {
            throw CommandFailure("\(file.path) cannot be created. Run this again.")
        }
    }
}
