import Authority
import Crypto
import Domain
import Encoding
import Foundation
import Repositories
import SwiftASN1
import Tokens
import X509

/// The keys of a service, loaded and checked to belong together.
struct LoadedKeys: Sendable {
    /// The internal authority with its key, from a file or a hardware module, and those of a rotation.
    let authorities: LoadedAuthorities
    /// The server's identity at the start.
    let server: ServerIdentity
    /// The current secret of nonces, and those that a rotation adds.
    let nonceSecrets: NonceSecrets
    /// The keys of the codes in texts, by version.
    let phoneCodes: PhoneCodeKeys
    /// The keys that protect personal data.
    let personal: PersonalKeys
    /// The key that signs Security Event Tokens.
    let serviceKey: P256.Signing.PrivateKey
    /// The keys that sign access tokens.
    let accessTokens: AccessTokenKeys
    /// The secrets that sign webhooks; empty if there is no such file.
    let webhookSecrets: [Secret<String>]
    /// The public keys of both kinds (RFC 7517).
    let webKeys: [JSONValue]
}

/// The directory of keys: `countersign keys init` creates its files, and the service reads them at its start.
enum KeyFiles {
    /// The files of the directory.
    enum Name: String, CaseIterable {
        /// Instead of `ca.key`: a `pkcs11:` URI (RFC 7512).
        case authorityURI = "ca.uri"
        case authorityKey = "ca.key"
        case authorityCertificate = "ca.pem"
        /// During a rotation: the next authority, which nodes trust already.
        case nextAuthorityURI = "ca-next.uri"
        case nextAuthorityKey = "ca-next.key"
        case nextAuthorityCertificate = "ca-next.pem"
        /// After a rotation: the former authority, which nodes trust while its certificates are valid.
        case formerAuthorityURI = "ca-former.uri"
        case formerAuthorityKey = "ca-former.key"
        case formerAuthorityCertificate = "ca-former.pem"
        case serverKey = "server.key"
        case serverCertificate = "server.pem"
        case nextServerKey = "server-next.key"
        case nonceSecret = "nonce.key"
        case phoneCodeSecrets = "phone-code.key"
        case wrappingSecrets = "wrapping.key"
        case blindIndexSecrets = "blind-index.key"
        case serviceKey = "service.key"
        /// During a rotation: the next service key.
        case nextServiceKey = "service-next.key"
        /// During a rotation: the public keys of the next and the former service key, whose tokens are accepted.
        case otherServiceKeys = "service-others.pem"
        /// The public keys of former service keys, for old checkpoints.
        case retiredServiceKeys = "service-retired.pem"
        case accessTokenKey = "access-token.key"
        /// During a rotation: the next access token key.
        case nextAccessTokenKey = "access-token-next.key"
        /// The public keys of the next and of former access token keys.
        case otherAccessTokenKeys = "access-token-others.pem"
        /// The secrets that sign webhooks, if `delivery.yaml` names this file.
        case webhookSecret = "webhook.secret"
        /// The authority of administrators' certificates. `admin add` creates both files.
        case adminAuthorityKey = "admin-ca.key"
        case adminAuthorityCertificate = "admin-ca.pem"
        /// During a rotation: the next authority of administrators, which the console trusts already.
        case nextAdminAuthorityKey = "admin-ca-next.key"
        case nextAdminAuthorityCertificate = "admin-ca-next.pem"
        /// After a rotation: the former authority of administrators, which the console trusts while its certificates are valid.
        case formerAdminAuthorityCertificate = "admin-ca-former.pem"
        /// The key of requests to wallets, and its certificate from a scheme of wallets.
        case walletKey = "wallet.key"
        case walletCertificate = "wallet.pem"
        /// During a rotation: the next key of requests to wallets, and its certificate.
        case nextWalletKey = "wallet-next.key"
        case nextWalletCertificate = "wallet-next.pem"

        /// A `pkcs11:` URI may contain a PIN.
        var isPrivate: Bool {
            ![
                .authorityCertificate, .nextAuthorityCertificate, .formerAuthorityCertificate, .serverCertificate,
                .otherServiceKeys, .retiredServiceKeys, .otherAccessTokenKeys, .adminAuthorityCertificate,
                .nextAdminAuthorityCertificate, .formerAdminAuthorityCertificate, .walletCertificate,
                .nextWalletCertificate,
            ].contains(self)
        }
    }

    static func file(_ name: Name, in directory: String) -> KeyFile {
        KeyFile(
            path: (directory.hasSuffix("/") ? directory : directory + "/") + name.rawValue, isPrivate: name.isPrivate)
    }

    /// Loads all keys and refuses unusable ones.
    ///
    /// - Throws: ``CommandFailure`` that names the file and the command that fixes it.
    static func load(directory: String, now: Date) throws(CommandFailure) -> LoadedKeys {
        func read(_ name: Name) throws(CommandFailure) -> String { try file(name, in: directory).read() }
        let authorities = try authorities(in: directory)
        guard authorities.current.notAfter > now else {
            throw CommandFailure(
                "\(path(.authorityCertificate, directory)) has expired; see Keys/README.md on a new root.")
        }
        let serviceKey = try serviceKey(try read(.serviceKey), directory)
        let accessTokens = try accessTokens(in: directory, curve: serviceKey)
        return LoadedKeys(
            authorities: authorities, server: try server(in: directory, now: now),
            nonceSecrets: try nonceSecrets(in: directory),
            phoneCodes: try phoneCodes(in: directory), personal: try personal(in: directory),
            serviceKey: serviceKey, accessTokens: accessTokens, webhookSecrets: try webhookSecrets(in: directory),
            webKeys: try webKeys(of: accessTokens, in: directory))
    }

    /// The authority's key: from `ca.uri` if that file exists, otherwise from `ca.key`.
    static func signingKeyOfAuthority(
        in directory: String, _ generation: AuthorityFiles.Generation = .current
    ) throws(CommandFailure) -> SigningKey {
        let names = names(of: generation)
        let uri = file(names.uri, in: directory)
        guard uri.exists else { return try signingKey(try file(names.key, in: directory).read(), names.key, directory) }
        let text = try uri.read().trimmingCharacters(in: .whitespacesAndNewlines)
        do {
            return try SigningKey(pkcs11: text)
        } catch {
            throw CommandFailure("\(uri.path): \(error.description)")
        }
    }

    /// The authority of a certificate and its key.
    static func authority(
        _ pem: String, _ key: SigningKey, in directory: String, _ generation: AuthorityFiles.Generation = .current
    ) throws(CommandFailure) -> CertificateAuthority {
        let path = path(names(of: generation).certificate, directory)
        do {
            return try CertificateAuthority(certificatePEM: pem, signingKey: key)
        } catch AuthorityError.keyMismatch
            where generation != .current || file(.nextAuthorityKey, in: directory).exists
            || file(.nextAuthorityURI, in: directory).exists
        {
            throw CommandFailure(
                "\(path) does not belong to its key: copy the files of the authority from another node, or finish the "
                    + "rotation with `countersign keys rotate ca`.")
        } catch AuthorityError.keyMismatch {
            throw CommandFailure(
                "\(path) does not belong to the authority's key; restore the pair, or for a new authority run "
                    + "`rm \(path) && \(initCommand(directory))`.")
        } catch let error as AuthorityError {
            throw CommandFailure("\(path): \(error.description)")
        } catch {
            throw CommandFailure("\(path) and the authority's key cannot be used together.")
        }
    }

    /// Parses a private key in PEM.
    static func signingKey(_ pem: String, _ name: Name, _ directory: String) throws(CommandFailure) -> SigningKey {
        do {
            return try SigningKey(pem: pem)
        } catch {
            throw CommandFailure("\(path(name, directory)): \(error.description)")
        }
    }

    /// The failure for a missing file. `keys init` creates neither secrets that a third party issued nor a key for an
    /// existing certificate.
    static func missing(_ path: String) -> CommandFailure {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let name = path.split(separator: "/").last.flatMap { Name(rawValue: String($0)) }
        func isThere(_ name: Name) -> Bool { file(name, in: directory).exists }
        switch name {
        case .authorityKey where isThere(.authorityCertificate):
            return CommandFailure(
                "\(path) is missing, and \(Self.path(.authorityCertificate, directory)) exists: restore the key from "
                    + "its backup; see Keys/README.md on a new root.")
        case .serverKey where isThere(.serverCertificate):
            return CommandFailure(
                "\(path) is missing, and \(Self.path(.serverCertificate, directory)) exists: restore the key, or "
                    + "\(renewServer(directory)).")
        case .wrappingSecrets where isThere(.authorityCertificate),
            .blindIndexSecrets where isThere(.authorityCertificate):
            return CommandFailure(
                "\(path) is missing: restore it from its backup, or copy it from another node; a store's data is lost "
                    + "without it. For a new store run `\(initCommand(directory))`.")
        case .nextAuthorityURI, .nextAuthorityKey, .nextAuthorityCertificate, .formerAuthorityURI, .formerAuthorityKey,
            .formerAuthorityCertificate:
            return CommandFailure(
                "\(path) is missing: copy it from the node on which you ran `countersign keys rotate ca`.")
        case .adminAuthorityKey, .adminAuthorityCertificate:
            return CommandFailure(
                "\(path) is missing: copy \(Name.adminAuthorityKey.rawValue) and "
                    + "\(Name.adminAuthorityCertificate.rawValue) from the host on which the first administrator was added."
            )
        case .nextAdminAuthorityKey, .nextAdminAuthorityCertificate, .formerAdminAuthorityCertificate:
            return CommandFailure(
                "\(path) is missing: copy it from the host on which you ran `countersign keys rotate admin-ca`.")
        case .nextWalletKey:
            return CommandFailure("\(path) is missing: run `countersign keys rotate wallet --stage`.")
        case .authorityURI, .nextServiceKey, .otherServiceKeys, .retiredServiceKeys, .nextAccessTokenKey,
            .otherAccessTokenKeys, .webhookSecret, .walletKey, .walletCertificate, .nextWalletCertificate, nil:
            return CommandFailure(
                "\(path) is missing: store the secret from its issuer in it, with mode 0600, or name another file in "
                    + "the policy or option that names it. No command creates it.")
        default:
            return CommandFailure(
                "\(path) is missing. Is --keys right? For a new installation run `\(initCommand(directory))`.")
        }
    }

    /// The command that renews the server's certificate; its hosts are not the command's defaults.
    static func renewServer(_ directory: String) -> String {
        "run `rm \(path(.serverCertificate, directory)) && \(initCommand(directory)) --host NAME` with every name and "
            + "address of the service"
    }

    static func path(_ name: Name, _ directory: String) -> String { file(name, in: directory).path }

    static func initCommand(_ directory: String) -> String { "countersign keys init --keys \(directory)" }

    /// The current secret of nonces, and those that a rotation adds.
    static func nonceSecrets(in directory: String) throws(CommandFailure) -> NonceSecrets {
        let file = file(.nonceSecret, in: directory)
        guard let secrets = NonceSecrets(try file.read()) else {
            throw CommandFailure(
                "\(file.path) is not 32 bytes in base64url; run `rm \(file.path) && \(initCommand(directory))`.")
        }
        return secrets
    }

    static func serviceKey(_ pem: String, _ directory: String) throws(CommandFailure) -> P256.Signing.PrivateKey {
        let path = path(.serviceKey, directory)
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else {
            throw CommandFailure("\(path) is not a P-256 key in PEM; run `rm \(path) && \(initCommand(directory))`.")
        }
        return key
    }
}
