import Authority
import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

/// Checks of the directory of keys.
extension Examination {
    /// How long before its expiry a server certificate should be renewed, in seconds.
    private static let serverNotice: TimeInterval = 30 * 86_400
    /// The age at which a key's yearly rotation is overdue, in seconds.
    private static let keyAge: TimeInterval = 400 * 86_400

    /// Findings for private files that other users may read, and directories that other users may write to.
    static func permissions(of directory: String) -> [Finding] {
        var found: [Finding] = []
        if let mode = mode(of: directory), mode & 0o022 != 0 {
            found.append(
                Finding(
                    .permissions, "other users may replace the files in \(directory)",
                    "run `chmod 700 \(directory)`"))
        }
        for name in KeyFiles.Name.allCases where name.isPrivate {
            let path = KeyFiles.path(name, directory)
            guard let mode = mode(of: path), mode & 0o077 != 0 else { continue }
            found.append(
                Finding(.permissions, "\(path) is a private key that other users may read", "run `chmod 600 \(path)`"))
        }
        return found
    }

    /// Loads the keys and reports their defects. Returns no keys if one cannot be used.
    func keys(_ settings: Settings, _ policy: Policy) -> (keys: LoadedKeys?, found: [Finding]) {
        let permissions = Self.permissions(of: settings.keys)
        let keys: LoadedKeys
        do throws(CommandFailure) {
            keys = try KeyFiles.load(directory: settings.keys, now: now())
        } catch {
            let finding = Finding(.keys, sentence: error.sentence)
            return (
                nil,
                permissions
                    + (permissions.contains { $0.what == finding.what || $0.mend == finding.mend }
                        ? [] : [finding])
            )
        }
        // A file that the wallets cannot use because of its mode is reported once.
        let ends = ends(keys, settings, policy).filter { finding in !permissions.contains { $0.mend == finding.mend } }
        return (keys, permissions + ends + ages(settings))
    }

    private func ends(_ keys: LoadedKeys, _ settings: Settings, _ policy: Policy) -> [Finding] {
        var found = Self.certificateEnds(settings, policy, now: now())
        let path = KeyFiles.path(.serverCertificate, settings.keys)
        for url in [settings.baseURL, settings.clientURL].compactMap(\.self) {
            guard let host = URL(string: url)?.host, !keys.server.covers(host) else { continue }
            found.append(
                Finding(
                    .certificate, "\(path) is not valid for \(host): clients refuse it",
                    "\(KeyFiles.renewServer(settings.keys)), then send the service SIGHUP"))
        }
        guard policy.wallet.enabled else { return found }
        do throws(CommandFailure) {
            _ = try WalletFiles.content(in: settings.keys, policy.wallet)
            _ = try WalletFiles.ends(in: settings.keys, policy.wallet)
        } catch {
            found.append(Finding(.certificate, sentence: error.sentence))
        }
        return settings.isDevelopment ? found : found + Self.sampleIssuers(settings)
    }

    /// Findings for certificates that end soon or have ended, of the files that this machine has. `countersign status`
    /// shows them too.
    static func certificateEnds(_ settings: Settings, _ policy: Policy, now: Date) -> [Finding] {
        func ending(_ name: KeyFiles.Name, within time: TimeInterval) -> (path: String, words: String)? {
            let path = KeyFiles.path(name, settings.keys)
            guard let end = end(ofFile: path), end < now.addingTimeInterval(time) else { return nil }
            return (path, words(path, end, now: now))
        }
        var found: [Finding] = []
        if let server = ending(.serverCertificate, within: serverNotice) {
            found.append(
                Finding(
                    .certificate, server.words,
                    "\(KeyFiles.renewServer(settings.keys)), then send the service SIGHUP"))
        }
        if let administrators = ending(.adminAuthorityCertificate, within: serverNotice) {
            found.append(
                Finding(
                    .authority, administrators.words,
                    "replace the authority of administrators: `countersign keys rotate admin-ca --stage`"))
        }
        let wallet = policy.wallet.enabled ? try? WalletFiles.ends(in: settings.keys, policy.wallet) : nil
        for (path, end, source) in wallet ?? [] where end < now.addingTimeInterval(serverNotice) {
            found.append(
                Finding(
                    .certificate, words(path, end, now: now),
                    "request the next one from \(source), then send the service SIGHUP"))
        }
        if let authority = ending(.authorityCertificate, within: policy.certification.validity) {
            found.append(
                Finding(
                    .authority, "\(authority.words), before the certificates that it would issue now",
                    "make a new root: `countersign keys rotate ca --stage`"))
        }
        return found
    }

    private static func words(_ path: String, _ end: Date, now: Date) -> String {
        "\(path) \(end > now ? "expires" : "expired") at \(end.rfc3339)"
    }

    /// When the first certificate of a file expires; `nil` if the file is missing or cannot be read. It needs no key, so a
    /// machine that only administers has the answer too.
    private static func end(ofFile path: String) -> Date? {
        guard let text = try? KeyFile(path: path, isPrivate: false).read(),
            let first = try? PEMDocument.parseMultiple(pemString: text).first
        else { return nil }
        return try? Certificate(pemDocument: first).notValidAfter
    }

    /// Findings for issuers whose keys `sample wallet` wrote to files.
    private static func sampleIssuers(_ settings: Settings) -> [Finding] {
        let anchors = (try? IssuerFiles.anchors(in: "\(settings.keys)/\(IssuerFiles.name)")) ?? []
        return anchors.filter { SampleIssuer.isSample($0.anchor) }.map { file, _ in
            Finding(
                .issuers, "\(file) is a sample issuer, and a person with its key can make documents of anybody",
                "run `countersign issuer remove \(file)`, then send the service SIGHUP")
        }
    }

    private func ages(_ settings: Settings) -> [Finding] {
        [KeyFiles.Name.serviceKey, .accessTokenKey, .wrappingSecrets].compactMap { name in
            let path = KeyFiles.path(name, settings.keys)
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard let written = attributes?[.modificationDate] as? Date,
                now().timeIntervalSince(written) > Self.keyAge
            else { return nil }
            let days = Int(saturating: now().timeIntervalSince(written) / 86_400)
            return Finding(.keys, "\(path) is \(days.counting("day")) old", "rotate it once a year: see Keys/README.md")
        }
    }

    /// The permissions of a file; `nil` if there is none.
    static func mode(of path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }
}
