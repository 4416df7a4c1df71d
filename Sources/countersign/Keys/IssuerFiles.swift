import Authority
import Encoding
import Foundation

/// The trusted issuers of credentials: a directory of certificates in PEM, one a file.
///
/// A line `Types: org.iso.18013.5.1.mDL, urn:eudi:pid:1` before the certificate limits what its signers may sign. RFC 7468
/// §2 permits such text.
enum IssuerFiles {
    /// The directory's name among the keys.
    static let name = "issuers"

    private static let field = "Types:"

    /// Reads all files whose names end with `.pem`.
    ///
    /// - Throws: ``CommandFailure`` that names the file.
    static func trust(in directory: String) throws(CommandFailure) -> IssuerTrust {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted().filter {
            $0.hasSuffix(".pem")
        }
        guard !names.isEmpty else {
            throw CommandFailure(
                "\(directory) has no certificate of an issuer (*.pem). Name a directory that has with --issuers.")
        }
        var anchors: [IssuerTrust.Anchor] = []
        for name in names { anchors.append(try anchor(KeyFile(path: "\(directory)/\(name)", isPrivate: false))) }
        return IssuerTrust(anchors)
    }

    private static func anchor(_ file: KeyFile) throws(CommandFailure) -> IssuerTrust.Anchor {
        let text = try file.read()
        guard let document = try? PEM(text), document.label == "CERTIFICATE" else {
            throw CommandFailure("\(file.path) is not one certificate in PEM.")
        }
        do throws(AuthorityError) {
            return try IssuerTrust.Anchor(document.bytes, types: types(in: text))
        } catch {
            throw CommandFailure(
                "\(file.path) is not the certificate of an issuer's authority: X.509 version 3 with a key on P-256 or "
                    + "P-384, a path length of 0 and keyCertSign.")
        }
    }

    /// The types that a file's text names; `nil` for all.
    private static func types(in text: String) -> Set<String>? {
        let line = text.split(whereSeparator: \.isNewline).first { $0.utf8.starts(with: field.utf8) }
        guard let line else { return nil }
        let types = line.dropFirst(field.count).split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return Set(types.filter { !$0.isEmpty })
    }
}
