import Authority
import Crypto
import Domain
import Encoding
import Foundation
import Glibc
import Logging
import Operations
import Repositories
import Synchronization
import Tokens

/// The membership of this node in the cluster.
extension Server {
    /// How this process announces itself to other nodes.
    func node() -> AnnounceNode {
        AnnounceNode(
            store: store, keys: keys.personal, host: Self.hostName(), version: ProgramVersion.text,
            environment: environment,
            fingerprints: { [settings, keys, nonceKey, policy, server, console] in
                keys.fingerprints(
                    nonceKey: nonceKey, server: server.present, realm: settings.realm, policy: policy[\.self],
                    administrators: console?.authorities)
            }, readAgain: { [self] in reloadKeys(logsUnchanged: false) },
            position: { [watch] in watch.position })
    }

    /// Joins the cluster.
    ///
    /// - Throws: ``CommandFailure`` if the node may not join.
    func join(_ node: AnnounceNode) async throws {
        let verdict = try await node.join(allowsOtherPolicies: settings.allowsOtherPolicies) { [logger] disagreement in
            logger.notice(
                "waiting to see if a node that this one disagrees with is alive",
                metadata: ["host": "\(disagreement.node.host)"])
        }
        if let failure = NodeRefusal.failure(verdict, settings) { throw failure }
        // Checked again, because another node may have marked the store before this node was visible to it.
        try await store.requireMode(isDevelopment: settings.isDevelopment, at: settings.store)
    }

    /// The heartbeat loop; removes the node at shutdown.
    func nodeLoop(_ node: AnnounceNode) -> @Sendable () async -> Void {
        let told = Told()
        return { [self] in
            await node.run { disagreements in
                // A disagreement may last, so it is logged once.
                let sentences = disagreements.map { NodeRefusal.summary($0) }
                let isNew = told.sentences.withLock { told in
                    defer { told = sentences }
                    return told != sentences
                }
                guard isNew else { return }
                for sentence in sentences { logger.warning("\(sentence)") }
            } onError: {
                logger.error("the heartbeat cannot be written", metadata: ["cause": .string(ErrorWords.of($0))])
            }
        }
    }

    static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unknown" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

private final class Told: Sendable {
    let sentences = Mutex<[String]>([])
}

extension LoadedKeys {
    /// The fingerprints of everything that nodes must have in common.
    ///
    /// - Parameter administrators: the authorities that the console trusts; `nil` without the console.
    func fingerprints(
        nonceKey: NonceKey, server: ServerIdentity, realm: String, policy: Policy,
        administrators: AdministratorAuthorities? = nil
    ) -> NodeFingerprints {
        var found = NodeFingerprints(
            items: [
                .nonceKey: nonceKey.fingerprints, .phoneCodeKeys: phoneCodes.fingerprints,
                .wrappingKeys: personal.wrappingFingerprints, .blindIndexKeys: personal.indexFingerprints,
                .authority: authorities.fingerprints,
                .serverKeys: [1: server.pin, 2: server.nextPin],
                .serviceKey: Self.digests(of: accessTokens.publishedCurves),
                .accessTokenKeys: Self.digests(of: accessTokens.published),
                .realm: [1: Digest256.of(realm)],
            ], policies: PolicyFiles.fingerprints(of: policy))
        found.items[.administratorAuthority] = administrators?.fingerprints
        if !webhookSecrets.isEmpty { found.items[.webhookSecrets] = WebhookSecretRotation.digests(of: webhookSecrets) }
        return found
    }

    /// The current key is 1, followed by the others.
    private static func digests(of keys: [PublishedKey]) -> [Int: Digest256] {
        Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($0 + 1, Digest256.of($1.id)) })
    }
}

extension PolicyFiles {
    /// The digest of each file, over the values that differ from the defaults. A version of the program with further
    /// keys thus computes an equal digest.
    static func fingerprints(of policy: Policy) -> [String: Digest256] {
        let usual = Policy()
        return PolicyArea.all.reduce(into: [:]) { digests, area in
            let values = area.fields.map { JSONMember(name: $0.key, value: $0.value(policy)) }
            let defaults = area.fields.map { JSONMember(name: $0.key, value: $0.value(usual)) }
            let set = zip(values, defaults).filter { $0.value != $1.value }.map(\.0).sorted { $0.name < $1.name }
            digests[area.name + ".yaml"] = Digest256.of("\(area.name)\0\(JSONValue.object(set).jsonText)")
        }
    }
}
