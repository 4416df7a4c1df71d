import Authority
import Domain
import Encoding
import Foundation
import Logging
import Operations
import Repositories
import UnixSignals

/// Reloading of files on SIGHUP.
extension Server {
    /// The key files that SIGHUP reloads.
    private static let versionedKeys: [KeyFiles.Name] = [.wrappingSecrets, .blindIndexSecrets, .phoneCodeSecrets]
    private static let serverFiles: [KeyFiles.Name] = [.serverCertificate, .serverKey, .nextServerKey]
    private static let walletFiles: [KeyFiles.Name] = [.walletKey, .walletCertificate]
    /// The policy files with values that are only read at the start.
    private static let boundToStart: Set<String> = ["delivery.yaml", "requests.yaml"]

    /// SIGHUP reloads the policies, the versioned keys, the server's certificate and the files for wallets. Files that cannot be read leave
    /// the current values in use. The log reports the values in use and, at the end, the files that were reloaded.
    func reload(_ node: AnnounceNode) async {
        for await _ in await UnixSignalsSequence(trapping: .sighup) {
            var parts = [
                (["\(settings.policies)/*.yaml"], reloadPolicies()),
                (Self.versionedKeys.map(\.rawValue), reloadKeys()),
                (Self.serverFiles.map(\.rawValue), reloadServer()),
            ]
            if policy[\.wallet].enabled { parts.append((WalletFiles.names, await reloadWallet())) }
            reportReload(parts)
            do {
                try await node.beat()
            } catch {
                logger.error(
                    "the heartbeat cannot be written after the reload",
                    metadata: ["cause": .string(ErrorWords.of(error))])
            }
        }
    }

    /// Logs which files were reloaded, which failed, and which need a restart.
    private func reportReload(_ parts: [(files: [String], isTaken: Bool)]) {
        func list(_ files: [String]) -> Logger.MetadataValue {
            .string(files.isEmpty ? "nothing" : files.joined(separator: ", "))
        }
        let failed = parts.filter { !$0.isTaken }.flatMap(\.files)
        let others = KeyFiles.Name.allCases.filter {
            !(Self.versionedKeys + Self.serverFiles + Self.walletFiles).contains($0)
        }
        logger.log(
            level: failed.isEmpty ? .info : .warning, "the reload has ended",
            metadata: [
                "read_again": list(parts.filter(\.isTaken).flatMap(\.files)), "failed": list(failed),
                "read_at_start_only": list(others.map(\.rawValue)),
            ])
    }

    /// Reloads the policies. Returns whether those on disk are in force.
    private func reloadPolicies() -> Bool {
        do {
            let before = PolicyFiles.fingerprints(of: policy[\.self])
            let new = try PolicyFiles.load(directory: settings.policies, required: settings.policiesNamed)
            try settings.requireServable(new)
            policy.replace(with: new)
            let changed = PolicyFiles.fingerprints(of: new).filter { before[$0.key] != $0.value }.keys.sorted()
            var metadata: Logger.Metadata = [
                "changed": "\(changed.isEmpty ? "nothing" : changed.joined(separator: ", "))"
            ]
            let partly = changed.filter(Self.boundToStart.contains)
            if !partly.isEmpty { metadata["some_values_after_a_restart"] = .string(partly.joined(separator: ", ")) }
            logger.info("the policies were reloaded", metadata: metadata)
            return true
        } catch {
            logger.error("the policies were not reloaded", metadata: ["cause": .string(ErrorWords.of(error))])
            return false
        }
    }

    /// Reloads the versioned keys. Keys that cannot be read leave the current ones in use.
    ///
    /// - Parameter logsUnchanged: whether a reload without changes is logged.
    /// - Returns: whether those on disk are in use.
    @discardableResult
    func reloadKeys(logsUnchanged: Bool = true) -> Bool {
        func present() -> [[Int: Digest256]] {
            [keys.personal.wrappingFingerprints, keys.personal.indexFingerprints, keys.phoneCodes.fingerprints]
        }
        do {
            let before = present()
            try keys.personal.reload()
            try keys.phoneCodes.reload()
            guard logsUnchanged || present() != before else { return true }
            func versions(_ fingerprints: [Int: Digest256]) -> Logger.MetadataValue {
                "\(fingerprints.keys.sorted().map(String.init).joined(separator: ", "))"
            }
            logger.info(
                "the keys were reloaded",
                metadata: [
                    "wrapping": versions(keys.personal.wrappingFingerprints),
                    "blind_index": versions(keys.personal.indexFingerprints),
                    "phone_code": versions(keys.phoneCodes.fingerprints),
                ])
            return true
        } catch {
            logger.error("the keys were not reloaded", metadata: ["cause": .string(ErrorWords.of(error))])
            return false
        }
    }

    /// Reloads the server's certificate and key. Open connections keep the previous ones.
    ///
    /// - Returns: whether those on disk are in use.
    private func reloadServer() -> Bool {
        do {
            let new = try KeyFiles.server(in: settings.keys, now: environment.now())
            let isOther = new.chainPEM != server.present.chainPEM
            if isOther { try present(new) }
            server.present = new
            warnOfOtherHosts(new)
            logger.info(
                "the server's certificate was reloaded",
                metadata: [
                    "sha256": "\(new.fingerprint)", "not_after": "\(new.notAfter.rfc3339)",
                    "pin": "\(new.pin.base64URL)", "next_pin": "\(new.nextPin.base64URL)",
                    "changed": "\(isOther)",
                ])
            return true
        } catch {
            logger.error(
                "the server's certificate was not reloaded", metadata: ["cause": .string(ErrorWords.of(error))])
            return false
        }
    }

    /// Reloads the certificate for wallets and the issuers. Open presentations keep the requests that were made.
    ///
    /// - Returns: whether those on disk are in use.
    private func reloadWallet() async -> Bool {
        do {
            let content = try WalletFiles.content(in: settings.keys, policy[\.wallet])
            try await service.replaceWalletFiles(
                trust: content.trust, reader: content.reader, listRoots: content.listRoots)
            logger.info("the files for wallets were reloaded")
            return true
        } catch {
            logger.error(
                "the files for wallets were not reloaded", metadata: ["cause": .string(ErrorWords.of(error))])
            return false
        }
    }
}
