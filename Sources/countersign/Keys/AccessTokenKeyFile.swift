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
        let others = file(.otherAccessTokenKeys, in: directory)
        let published = others.exists ? try publicKeys(in: others) : []
        guard let keys = AccessTokenKeys(pem: pem, others: published, curve: curve) else { throw notRSA(others) }
        return keys
    }

    /// The keys of `/.well-known/jwks.json`. The current RSA key signs the certificate of each, so every node and every
    /// start produce the same certificates.
    static func webKeys(of keys: AccessTokenKeys, in directory: String) throws(CommandFailure) -> [JSONValue] {
        let signer = try signingKey(try file(.accessTokenKey, in: directory).read(), .accessTokenKey, directory)
        do {
            return try ([keys.publishedCurve] + keys.published).map { key in
                let certificate = try signer.certificate(
                    of: try DevicePublicKey(key.key.publicKey), named: key.id, by: keys.published.first?.id ?? key.id)
                return key.webKey(certificate: certificate)
            }
        } catch {
            throw CommandFailure(
                "\(path(.accessTokenKey, directory)) cannot sign the certificates of the published keys.")
        }
    }

    private static func publicKeys(in file: KeyFile) throws(CommandFailure) -> [VerificationKey] {
        let end = "-----END PUBLIC KEY-----"
        var keys: [VerificationKey] = []
        let parts = try file.read().components(separatedBy: end)
        guard let rest = parts.last, rest.allSatisfy(\.isWhitespace) else { throw notRSA(file) }
        for part in parts.dropLast() {
            guard let key = try? VerificationKey(pem: part + end + "\n", algorithm: .rs256) else { throw notRSA(file) }
            keys.append(key)
        }
        return keys
    }

    private static func notRSA(_ file: KeyFile) -> CommandFailure {
        CommandFailure("\(file.path) does not contain RSA public keys in PEM.")
    }
}
