import Authority
import Domain
import Encoding
import Foundation

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
        return (keys, permissions + ends(keys, settings, policy) + ages(settings))
    }

    private func ends(_ keys: LoadedKeys, _ settings: Settings, _ policy: Policy) -> [Finding] {
        var found: [Finding] = []
        let path = KeyFiles.path(.serverCertificate, settings.keys)
        if keys.server.notAfter < now().addingTimeInterval(Self.serverNotice) {
            found.append(
                Finding(
                    .certificate, "\(path) expires at \(keys.server.notAfter.rfc3339)",
                    "\(KeyFiles.renewServer(settings.keys)), then send the service SIGHUP"))
        }
        for url in [settings.baseURL, settings.clientURL].compactMap(\.self) {
            guard let host = URL(string: url)?.host, !keys.server.covers(host) else { continue }
            found.append(
                Finding(
                    .certificate, "\(path) is not valid for \(host): clients refuse it",
                    "\(KeyFiles.renewServer(settings.keys)), then send the service SIGHUP"))
        }
        if policy.wallet.enabled { found += walletEnds(settings, policy.wallet) }
        if keys.authorities.current.notAfter < now().addingTimeInterval(policy.certification.validity) {
            found.append(
                Finding(
                    .authority,
                    "\(KeyFiles.path(.authorityCertificate, settings.keys)) expires at "
                        + "\(keys.authorities.current.notAfter.rfc3339), before the certificates that it would issue now",
                    "make a new root: `countersign keys rotate ca --stage`"))
        }
        return found
    }

    private func walletEnds(_ settings: Settings, _ policy: WalletPolicy) -> [Finding] {
        do throws(CommandFailure) {
            _ = try WalletFiles.content(in: settings.keys, policy)
            return try WalletFiles.ends(in: settings.keys, policy).compactMap { path, end, source in
                guard end < now().addingTimeInterval(Self.serverNotice) else { return nil }
                return Finding(
                    .certificate, "\(path) expires at \(end.rfc3339)",
                    "request the next one from \(source), then send the service SIGHUP")
            }
        } catch {
            return [Finding(.certificate, sentence: error.sentence)]
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
