import Authority
import Domain
import Encoding
import Foundation

/// The authorities that nodes trust: the current one, and during a rotation the next one or the former one.
struct LoadedAuthorities: Sendable {
    /// The authority that signs certificates of devices.
    let current: CertificateAuthority
    let next: CertificateAuthority?
    let former: CertificateAuthority?

    /// Those that only verify, without a copy of the current one.
    var others: [CertificateAuthority] { [next, former].compactMap(\.self).filter { $0.id != current.id } }

    /// The certificates of all of them in DER, those of the current one first.
    var chains: [[UInt8]] { ([current] + others).flatMap(\.chain) }

    /// The digests by which nodes compare them: the current one, 1, followed by the others.
    var fingerprints: [Int: Digest256] {
        var digests: [Int: Digest256] = [:]
        for (index, authority) in ([current] + others).enumerated() { digests[index + 1] = authority.fingerprint }
        return digests
    }
}

extension CertificateAuthority {
    /// The digest by which nodes compare it.
    var fingerprint: Digest256 { Digest256.of(chainPEM.joined()) }
}

/// The files of one authority: a key, or the URI of one in a hardware module, and the certificates.
struct AuthorityFiles {
    let uri: KeyFile
    let key: KeyFile
    let certificate: KeyFile

    /// The three names of an authority in a directory.
    enum Generation: CaseIterable {
        case current, next, former
    }

    init(_ generation: Generation, in directory: String) {
        let names = KeyFiles.names(of: generation)
        uri = KeyFiles.file(names.uri, in: directory)
        key = KeyFiles.file(names.key, in: directory)
        certificate = KeyFiles.file(names.certificate, in: directory)
    }

    /// The file that names the key: the URI if there is one, otherwise the key itself.
    var secret: KeyFile { uri.exists ? uri : key }

    /// Takes the key of other files.
    ///
    /// - Throws: `CommandFailure`.
    func take(secretOf other: AuthorityFiles) throws(CommandFailure) {
        let isURI = other.uri.exists
        try (isURI ? uri : key).replace(try other.secret.read())
        let left = isURI ? key : uri
        if left.exists { try left.remove() }
    }

    /// Removes all files, the certificate first: without it the key is not read.
    ///
    /// - Returns: the paths of those that existed.
    func remove() throws(CommandFailure) -> [String] {
        var removed: [String] = []
        for file in [certificate, uri, key] where file.exists {
            try file.remove()
            removed.append(file.path)
        }
        return removed
    }
}

extension KeyFiles {
    static func names(of generation: AuthorityFiles.Generation) -> (uri: Name, key: Name, certificate: Name) {
        switch generation {
        case .current: (.authorityURI, .authorityKey, .authorityCertificate)
        case .next: (.nextAuthorityURI, .nextAuthorityKey, .nextAuthorityCertificate)
        case .former: (.formerAuthorityURI, .formerAuthorityKey, .formerAuthorityCertificate)
        }
    }

    /// Loads the current authority, and those of a rotation.
    ///
    /// - Throws: `CommandFailure` that names the file and the command that fixes it.
    static func authorities(in directory: String) throws(CommandFailure) -> LoadedAuthorities {
        func authority(_ generation: AuthorityFiles.Generation) throws(CommandFailure) -> CertificateAuthority {
            let pem = try file(names(of: generation).certificate, in: directory).read()
            return try Self.authority(
                pem, try signingKeyOfAuthority(in: directory, generation), in: directory, generation)
        }
        func authorityIfThere(
            _ generation: AuthorityFiles.Generation
        ) throws(CommandFailure) -> CertificateAuthority? {
            guard file(names(of: generation).certificate, in: directory).exists else { return nil }
            return try authority(generation)
        }
        return LoadedAuthorities(
            current: try authority(.current), next: try authorityIfThere(.next), former: try authorityIfThere(.former))
    }
}
