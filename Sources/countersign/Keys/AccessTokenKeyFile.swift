import Authority
import Crypto
import Domain
import Encoding
import Foundation
import Tokens

/// The key that signs access tokens, and the additional published public keys.
extension KeyFiles {
    /// Reads the key and the additional public keys.
    ///
    /// - Throws: ``CommandFailure`` that names the file and the remedy.
    static func accessTokens(
        in directory: String, curve: P256.Signing.PrivateKey
    ) throws(CommandFailure) -> AccessTokenKeys {
        let pem = try file(.accessTokenKey, in: directory).read()
        guard AccessTokenKeys(pem: pem, others: [], curve: curve) != nil else {
            let path = path(.accessTokenKey, directory)
            throw CommandFailure(
                "\(path) is not an RSA key of 2048 to 4096 bits in PEM; run `rm \(path) && \(initCommand(directory))`.")
        }
        let (others, curves) = (file(.otherAccessTokenKeys, in: directory), file(.otherServiceKeys, in: directory))
        let published = others.exists ? try publicKeys(in: others, .rs256) : []
        let accepted = curves.exists ? try publicKeys(in: curves, .es256) : []
        guard let keys = AccessTokenKeys(pem: pem, others: published + accepted, curve: curve) else {
            throw notReadable(others, .rs256)
        }
        return keys
    }

    /// The keys of `/.well-known/jwks.json`. The current RSA key signs the certificate of each, so every node and every
    /// start produce the same certificates.
    static func webKeys(of keys: AccessTokenKeys, in directory: String) throws(CommandFailure) -> [JSONValue] {
        let signer = try signingKey(try file(.accessTokenKey, in: directory).read(), .accessTokenKey, directory)
        do {
            return try (keys.publishedCurves + keys.published).map { key in
                let certificate = try signer.certificate(
                    of: try DevicePublicKey(key.key.publicKey), named: key.id, by: keys.published.first?.id ?? key.id)
                return key.webKey(certificate: certificate)
            }
        } catch {
            throw CommandFailure(
                "\(path(.accessTokenKey, directory)) cannot sign the certificates of the published keys.")
        }
    }

    private static func publicKeys(
        in file: KeyFile, _ algorithm: SignatureAlgorithm
    ) throws(CommandFailure) -> [VerificationKey] {
        let end = "-----END PUBLIC KEY-----"
        var keys: [VerificationKey] = []
        let parts = try file.read().components(separatedBy: end)
        guard let rest = parts.last, rest.allSatisfy(\.isWhitespace) else { throw notReadable(file, algorithm) }
        for part in parts.dropLast() {
            guard let key = try? VerificationKey(pem: part + end + "\n", algorithm: algorithm) else {
                throw notReadable(file, algorithm)
            }
            keys.append(key)
        }
        return keys
    }

    private static func notReadable(_ file: KeyFile, _ algorithm: SignatureAlgorithm) -> CommandFailure {
        CommandFailure(
            "\(file.path) does not contain \(algorithm == .rs256 ? "RSA" : "P-256") public keys in PEM.")
    }
}
