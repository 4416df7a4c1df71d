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

/// The part of the server that knows of other nodes on the same store.
extension Server {
    /// How this process is known to the others.
    func node() -> AnnounceNode {
        AnnounceNode(
            store: store, keys: keys.personal, host: Self.hostName(), version: ProgramVersion.text,
            environment: environment,
            fingerprints: { [settings, keys, nonceKey, policy, server] in
                keys.fingerprints(
                    nonceKey: nonceKey, server: server.present, realm: settings.realm, policy: policy[\.self])
            }, readAgain: { [self] in reloadKeys(logsUnchanged: false) },
            position: { [watch] in watch.position })
    }

    /// Comes in, or says why it may not.
    ///
    /// - Throws: ``CommandFailure``.
    func join(_ node: AnnounceNode) async throws {
        let verdict = try await node.join(allowsOtherPolicies: settings.allowsOtherPolicies) { [logger] disagreement in
            logger.notice(
                "waiting to see whether another node is alive that this one does not agree with",
                metadata: ["host": "\(disagreement.node.host)"])
        }
        if let failure = NodeRefusal.failure(verdict, settings) { throw failure }
        // Once more: it may have been marked since, while nothing showed that a node comes.
        try await store.requireMode(isDevelopment: settings.isDevelopment, at: settings.store)
    }

    /// The loop that says that this node lives, and that takes it out at its end.
    func nodeLoop(_ node: AnnounceNode) -> @Sendable () async -> Void {
        let told = Told()
        return { [self] in
            await node.run { disagreements in
                // Each one once: it may last.
                let sentences = disagreements.map { NodeRefusal.summary($0) }
                let isNew = told.sentences.withLock { told in
                    defer { told = sentences }
                    return told != sentences
                }
                guard isNew else { return }
                for sentence in sentences { logger.warning("\(sentence)") }
            } onError: {
                logger.error("this node cannot say that it lives", metadata: ["cause": .string(ErrorWords.of($0))])
            }
        }
    }

    private static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unknown" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// What was said of other nodes last.
private final class Told: Sendable {
    let sentences = Mutex<[String]>([])
}

extension LoadedKeys {
    /// What a node with these keys must have in common with others.
    func fingerprints(
        nonceKey: NonceKey, server: ServerIdentity, realm: String, policy: Policy
    ) -> NodeFingerprints {
        NodeFingerprints(
            items: [
                .nonceKey: [1: nonceKey.fingerprint], .phoneCodeKeys: phoneCodes.fingerprints,
                .wrappingKeys: personal.wrappingFingerprints, .blindIndexKeys: personal.indexFingerprints,
                .authority: [1: Digest256.of(authority.chainPEM.joined())],
                .serverKeys: [1: server.pin, 2: server.nextPin],
                .serviceKey: [1: Digest256.of(WebKey.identifier(of: serviceKey.publicKey))],
                .accessTokenKeys: Dictionary(
                    uniqueKeysWithValues: accessTokens.published.enumerated().map { ($0 + 1, Digest256.of($1.id)) }),
                .realm: [1: Digest256.of(realm)],
            ], policies: PolicyFiles.fingerprints(of: policy))
    }
}

extension PolicyFiles {
    /// The digest of each file: of the values that are not the defaults, so that another version of the program, which
    /// knows further ones, says the same.
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
