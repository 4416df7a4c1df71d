import Authority
import Foundation
import SwiftASN1

/// Further roots of attestations, for a root that Apple or Google publishes after this release.
///
/// The names of files tell whose they are: `apple*.pem` and `android*.pem`, each with certificates in PEM.
enum AttestationFiles {
    /// The directory's name among the keys.
    static let name = "attestation"

    /// The published roots and those of the directory, which need not exist.
    ///
    /// - Throws: `CommandFailure` that names the file.
    static func verifier(in directory: String) throws(CommandFailure) -> AttestationVerifier {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted().filter {
            $0.hasSuffix(".pem")
        }
        var verifier = AttestationVerifier.published
        for name in names {
            let file = KeyFile(path: "\(directory)/\(name)", isPrivate: false)
            guard let documents = try? PEMDocument.parseMultiple(pemString: try file.read()), !documents.isEmpty,
                documents.allSatisfy({ $0.discriminator == "CERTIFICATE" })
            else { throw CommandFailure("\(file.path) does not consist of certificates in PEM.") }
            let roots = documents.map(\.derBytes)
            let (apple, android) = (name.hasPrefix("apple"), name.hasPrefix("android"))
            guard apple || android else {
                throw CommandFailure("\(file.path) must begin with apple or android. Rename it.")
            }
            do throws(AuthorityError) {
                verifier = verifier.adding(
                    try AttestationVerifier(apple: apple ? roots : [], google: android ? roots : []))
            } catch {
                throw CommandFailure("\(file.path) has a certificate that cannot be read.")
            }
        }
        return verifier
    }
}
