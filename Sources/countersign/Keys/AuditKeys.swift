import Crypto
import Domain
import Foundation

/// The public keys that verify the audit log's checkpoints: the current service key's, the next one's and the former ones.
extension KeyFiles {
    /// The keys by thumbprint (RFC 7638).
    ///
    /// - Throws: ``CommandFailure`` if the service key is missing or a file cannot be read.
    static func auditKeys(in directory: String) throws(CommandFailure) -> [String: P256.Signing.PublicKey] {
        let present = try serviceKey(try file(.serviceKey, in: directory).read(), directory).publicKey
        var keys = [WebKey.identifier(of: present): present]
        let end = "-----END PUBLIC KEY-----"
        for name in [Name.otherServiceKeys, .retiredServiceKeys] {
            let file = file(name, in: directory)
            guard file.exists else { continue }
            for part in try file.read().components(separatedBy: end).dropLast() {
                guard let key = try? P256.Signing.PublicKey(pemRepresentation: part + end) else {
                    throw CommandFailure("\(file.path) does not contain P-256 public keys in PEM.")
                }
                keys[WebKey.identifier(of: key)] = key
            }
        }
        return keys
    }
}
