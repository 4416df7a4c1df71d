import Authority
import Domain
import Encoding

/// The rotation of the authority of administrators. The console trusts the next authority before it signs, and the former
/// one until each administrator has a certificate of the new one. The former key is not kept, because an authority of
/// administrators signs no revocation list. So it may also be lost.
struct AdministratorAuthorityRotation {
    private let rotation: KeyFileRotation
    private let key: KeyFile
    private let certificate: KeyFile
    private let nextKey: KeyFile
    private let nextCertificate: KeyFile
    private let formerCertificate: KeyFile

    init(_ rotation: KeyFileRotation) {
        self.rotation = rotation
        func file(_ name: KeyFiles.Name) -> KeyFile { KeyFiles.file(name, in: rotation.directory) }
        key = file(.adminAuthorityKey)
        certificate = file(.adminAuthorityCertificate)
        nextKey = file(.nextAdminAuthorityKey)
        nextCertificate = file(.nextAdminAuthorityCertificate)
        formerCertificate = file(.formerAdminAuthorityCertificate)
    }

    func run(_ step: RotationStep) throws(CommandFailure) -> RotationOutcome {
        guard certificate.exists else {
            throw CommandFailure(
                "\(certificate.path) is missing: name the keys of the host on which administrators are added. The first "
                    + "`countersign admin add` with --out creates this authority.")
        }
        var outcome = RotationOutcome(next: rotation.steps(.administratorAuthority, after: step))
        if nextKey.exists, try nextKey.hasSameText(as: key) {
            // The key came from another host, or a run was stopped after it had replaced the current key.
            if nextCertificate.exists, try !nextCertificate.hasSameText(as: certificate) {
                // This host may never have had the former authority under its name.
                if !formerCertificate.exists {
                    try formerCertificate.create(try certificate.read())
                    outcome.changed.append(formerCertificate.path)
                }
                try certificate.replace(try nextCertificate.read())
                outcome.changed.append(certificate.path)
            }
            outcome.changed += try removeNext()
            if step == .use { return outcome }
        }
        switch step {
        case .stage: outcome.changed += try stage()
        case .use: outcome.changed += try use()
        case .prune: outcome.changed += try prune()
        }
        return outcome
    }

    private var authority: AdministratorAuthority {
        AdministratorAuthority(
            directory: rotation.directory, now: rotation.now, randomBytes: rotation.randomBytes)
    }

    private func next() throws(CommandFailure) -> CertificateAuthority {
        try authority.read(.nextAdminAuthorityKey, .nextAdminAuthorityCertificate)
    }

    private func stage() throws(CommandFailure) -> [String] {
        guard !nextCertificate.exists else {
            // It must be usable before it is copied.
            _ = try next()
            return []
        }
        guard !formerCertificate.exists else { throw Self.formerLeft }
        try authority.create(.nextAdminAuthorityKey, .nextAdminAuthorityCertificate)
        return [nextKey.path, nextCertificate.path]
    }

    /// The former certificate is written before the current pair is replaced, so that the console trusts all of them at
    /// each moment. Only `admin add` and `admin renew` need the pair. The same command finishes all.
    private func use() throws(CommandFailure) -> [String] {
        guard nextCertificate.exists else { throw KeyFileRotation.notStaged(.administratorAuthority) }
        if formerCertificate.exists, try !formerCertificate.hasSameText(as: certificate) { throw Self.formerLeft }
        let staged = try next()
        guard staged.notAfter > rotation.now else {
            throw CommandFailure("\(nextCertificate.path) has expired: delete it, and stage the next authority again.")
        }
        try rotation.requireAccepted(Digest256.of(staged.chain.first ?? []), .administratorAuthority)
        try formerCertificate.replace(try certificate.read())
        try key.replace(try nextKey.read())
        try certificate.replace(try nextCertificate.read())
        return [formerCertificate.path, key.path, certificate.path] + (try removeNext())
    }

    private func prune() throws(CommandFailure) -> [String] {
        guard formerCertificate.exists else { throw KeyFileRotation.nothingFormer(.administratorAuthority) }
        guard let current = try AdministratorAuthorities(in: rotation.directory).fingerprints[1] else {
            throw KeyFileRotation.nothingFormer(.administratorAuthority)
        }
        try rotation.requireUsed(current, .administratorAuthority, for: 0)
        guard rotation.formerAdministrators.isEmpty else {
            throw CommandFailure(
                "Administrators still have certificates of the former authority: "
                    + "\(rotation.formerAdministrators.joined(separator: ", ")). Run `countersign admin renew NAME --out "
                    + "FILE` for each, or remove them.")
        }
        try formerCertificate.remove()
        return [formerCertificate.path]
    }

    /// The certificate first: without it the key is not read.
    private func removeNext() throws(CommandFailure) -> [String] {
        var removed: [String] = []
        for file in [nextCertificate, nextKey] where file.exists {
            try file.remove()
            removed.append(file.path)
        }
        return removed
    }

    /// There is one former authority, so that another rotation would refuse administrators.
    private static let formerLeft = CommandFailure(
        "The former authority of administrators is still trusted: run `countersign keys rotate admin-ca --prune` first."
    )
}
