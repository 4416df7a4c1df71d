import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import countersign

/// Two nodes with the keys of one directory, of which at most one is stopped at a time.
final class RotationBench {
    let parent: TemporaryDirectory
    var now = Date()
    /// The end of the last certificate of the former authority.
    var lastEnd: Date?
    /// The keys that each node read at its start.
    private(set) var nodes: [(keys: LoadedKeys, startedAt: Date)] = []
    /// The administrators with a valid certificate of the former authority of administrators.
    var formerAdministrators: [String] = []
    /// The authorities of administrators that each node with the console read at its start.
    private(set) var consoles: [Int: AdministratorAuthorities] = [:]

    var directory: String { parent.path + "/Keys" }

    init() throws {
        parent = try TemporaryDirectory()
        try Installation.makeKeys(parent.path + "/Keys", madeAt: now)
        nodes = try (0..<2).map { _ in (try load(), now) }
    }

    private func load() throws -> LoadedKeys { try KeyFiles.load(directory: directory, now: now) }

    /// Makes the authority of administrators, and lets nodes serve the console.
    func serveConsole(on indices: [Int]) throws {
        try authority.create(.adminAuthorityKey, .adminAuthorityCertificate)
        for index in indices { consoles[index] = try AdministratorAuthorities(in: directory) }
    }

    var authority: AdministratorAuthority {
        AdministratorAuthority(directory: directory, now: now, randomBytes: randomBytes)
    }

    private let randomBytes: (Int) -> [UInt8] = { count in (0..<count).map { _ in UInt8.random(in: .min ... .max) } }

    /// Starts a node again, which the other one must accept.
    func restart(_ index: Int) throws {
        now += 1
        nodes[index] = (try load(), now)
        if consoles[index] != nil { consoles[index] = try AdministratorAuthorities(in: directory) }
        let members = members
        for (own, other) in [(members[0], members[1]), (members[1], members[0])] {
            let found = NodeAgreement.disagreements(
                of: own.fingerprints, with: [other], allowsOtherPolicies: false, now: now)
            #expect(found.isEmpty, "\(found)")
        }
    }

    var members: [ClusterMember] {
        nodes.enumerated().map { index, node in
            let (keys, startedAt) = node
            return ClusterMember(
                id: NodeID(UUID()), host: "a", version: "1", startedAt: startedAt, seenAt: now,
                fingerprints: keys.fingerprints(
                    nonceKey: keys.nonceSecrets.key(generation: "", in: .first), server: keys.server,
                    realm: "auth.example", policy: Policy(), administrators: consoles[index]))
        }
    }

    @discardableResult
    func run(_ step: RotationStep, of key: RotatedKey) throws -> RotationOutcome {
        try KeyFileRotation(
            directory: directory, nodes: members, now: now,
            randomBytes: randomBytes, lastEnd: lastEnd, formerAdministrators: formerAdministrators
        ) { NonceKey($0, generation: "", in: .first).fingerprint }.run(step, of: key)
    }

    func expectRefused(_ step: RotationStep, of key: RotatedKey, _ words: String) {
        let failure = #expect(throws: CommandFailure.self) { try run(step, of: key) }
        #expect(failure?.sentence.contains(words) == true, "\(failure?.sentence ?? "")")
    }

    func has(_ name: KeyFiles.Name) -> Bool { KeyFiles.file(name, in: directory).exists }
}

extension RotationBench {
    /// The content of files; `nil` for one that is not there.
    static func texts(of files: [KeyFile]) throws -> [String?] { try files.map { try $0.exists ? $0.read() : nil } }

    /// Gives files their former content, as if a step had been stopped before it came to them.
    static func restore(_ files: ArraySlice<KeyFile>, to former: ArraySlice<String?>) throws {
        for (file, text) in zip(files, former) {
            if let text {
                try file.replace(text)
            } else if file.exists {
                try file.remove()
            }
        }
    }
}
