import Authority
import Domain
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
    /// - Parameter mayBeEmpty: whether there may be none.
    /// - Throws: ``CommandFailure`` that names the file.
    static func trust(in directory: String, mayBeEmpty: Bool = false) throws(CommandFailure) -> IssuerTrust {
        let anchors = try anchors(in: directory).map(\.anchor)
        guard mayBeEmpty || !anchors.isEmpty else {
            throw CommandFailure(
                "\(directory) has no certificate of an issuer (*.pem). Name another directory with --issuers.")
        }
        return IssuerTrust(anchors)
    }

    /// The certificates with the names of their files, in the order of the names.
    ///
    /// - Throws: `CommandFailure` that names the file.
    static func anchors(in directory: String) throws(CommandFailure) -> [(file: String, anchor: IssuerTrust.Anchor)] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted().filter {
            $0.hasSuffix(".pem")
        }
        var anchors: [(String, IssuerTrust.Anchor)] = []
        for name in names {
            anchors.append((name, try anchor(KeyFile(path: "\(directory)/\(name)", isPrivate: false))))
        }
        return anchors
    }

    /// Adds the certificate of a file.
    ///
    /// - Parameters:
    ///   - name: the name that the copy gets, without its ending.
    ///   - types: the types that its signers may sign; empty for those that the file names, or all if it names none.
    /// - Returns: the path of the copy.
    /// - Throws: `CommandFailure`.
    static func add(_ path: String, as name: String, types: [CredentialType], to directory: String)
        throws(CommandFailure)
        -> String
    {
        let file = KeyFile(path: path, isPrivate: false)
        guard file.exists else {
            throw CommandFailure("\(path) cannot be read: name the certificate of an issuer's authority.")
        }
        let anchor = try anchor(file)
        let text = try file.read()
        // A file that allows no type is not one that allows all.
        let allowed = types.isEmpty ? anchor.typeNames : types.map(\.text)
        if let other = try anchors(in: directory).first(where: { $0.anchor.thumbprint == anchor.thumbprint }) {
            throw CommandFailure("\(directory)/\(other.file) has this certificate already.")
        }
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        } catch {
            throw CommandFailure("\(directory) cannot be created.")
        }
        guard let document = try? PEM(text) else {
            throw CommandFailure("\(path) is not one certificate in PEM.")
        }
        let copy = KeyFile(path: "\(directory)/\(name).pem", isPrivate: false)
        let line = allowed.map { "\(field) \($0.joined(separator: ", "))\n" } ?? ""
        try copy.create(line + PEM.encode(document.bytes, label: document.label))
        return copy.path
    }

    /// Removes a certificate.
    ///
    /// - Parameter isPreview: whether the file stays.
    /// - Returns: the path of its file.
    /// - Throws: `CommandFailure` if there is no such file.
    static func remove(_ name: String, from directory: String, isPreview: Bool) throws(CommandFailure) -> String {
        let file = KeyFile(path: "\(directory)/\(name).pem", isPrivate: false)
        guard file.exists else {
            throw CommandFailure("\(file.path) does not exist. `countersign issuer list` names the issuers.")
        }
        if !isPreview { try file.remove() }
        return file.path
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

/// A document type or `vct`, as one entry of an issuer's line of types: no other text could be read back from it.
struct CredentialType: Equatable {
    let text: String

    /// `nil` for an empty text, and for one with a comma, a space or a character that is not seen.
    init?(_ text: String) {
        let isSeen = text.unicodeScalars.allSatisfy { scalar in
            scalar != "," && !scalar.properties.isWhitespace && !PlainText.isInvisible(scalar)
        }
        guard isSeen, !text.isEmpty else { return nil }
        self.text = text
    }
}
