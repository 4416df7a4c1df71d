import Authority
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing
import Tokens

@testable import countersign

@Suite("Rotating the keys in files")
struct KeyFileRotationTests {
    @Test(
        "A key is staged, used and pruned while nodes restart one by one, and each step waits for both nodes",
        arguments: [RotatedKey.nonce, .service, .accessToken])
    func threeSteps(key: RotatedKey) throws {
        let bench = try RotationBench()
        bench.expectRefused(.use, of: key, "--stage")
        bench.expectRefused(.prune, of: key, "no former key")
        #expect(try !bench.run(.stage, of: key).changed.isEmpty)
        // The step may be repeated.
        #expect(try bench.run(.stage, of: key).changed.isEmpty)
        bench.expectRefused(.use, of: key, "has not read the new key")
        try bench.restart(0)
        bench.expectRefused(.use, of: key, "has not read the new key")
        try bench.restart(1)
        #expect(try !bench.run(.use, of: key).changed.isEmpty)
        bench.expectRefused(.use, of: key, "--stage")
        bench.expectRefused(.prune, of: key, "has not read the new key")
        try bench.restart(0)
        try expectEachAccepts(key, bench)
        bench.expectRefused(.prune, of: key, "has not read the new key")
        try bench.restart(1)
        bench.expectRefused(.prune, of: key, "valid until")
        bench.now += 2 * 86_400
        #expect(try !bench.run(.prune, of: key).changed.isEmpty)
        bench.expectRefused(.prune, of: key, "no former key")
        try bench.restart(0)
        try bench.restart(1)
        for name in [KeyFiles.Name.nextServiceKey, .otherServiceKeys, .nextAccessTokenKey, .otherAccessTokenKeys] {
            #expect(!bench.has(name), "\(name)")
        }
        #expect(bench.has(.retiredServiceKeys) == (key == .service))
        if key == .service { #expect(try KeyFiles.auditKeys(in: bench.directory).count == 2) }
    }

    @Test(
        "A next key that is in use already is removed by each step, and undoes nothing",
        arguments: [RotatedKey.service, .accessToken])
    func leftNextKey(key: RotatedKey) throws {
        let bench = try RotationBench()
        let (current, next): (KeyFiles.Name, KeyFiles.Name) =
            key == .service ? (.serviceKey, .nextServiceKey) : (.accessTokenKey, .nextAccessTokenKey)
        let files = [current, next].map { KeyFiles.file($0, in: bench.directory) }
        try bench.run(.stage, of: key)
        try bench.restart(0)
        try bench.restart(1)
        let staged = try files[1].read()
        let used = try bench.run(.use, of: key)
        #expect(used.next.contains { $0.contains("delete \(next.rawValue) on the other nodes") })
        // As on another node, or after a stop between the two files.
        try files[1].replace(staged)
        let retired = KeyFiles.file(.retiredServiceKeys, in: bench.directory)
        let before = retired.exists ? try retired.read() : nil
        #expect(try bench.run(.use, of: key).changed == [files[1].path])
        #expect(try !files[1].exists && files[0].read() == staged)
        #expect(try (retired.exists ? retired.read() : nil) == before)
        try files[1].replace(staged)
        try bench.run(.stage, of: key)
        #expect(try files[1].read() != staged && files[0].read() == staged)
        try files[1].replace(staged)
        try bench.restart(0)
        try bench.restart(1)
        bench.now += 2 * 86_400
        let pruned = try bench.run(.prune, of: key)
        #expect(!files[1].exists && pruned.next.contains { $0.contains("-others.pem on the other nodes") })
        try files[1].replace(staged)
        #expect(try bench.run(.prune, of: key).changed == [files[1].path])
    }

    @Test("After each step the files that it wrote are there to be copied, and no others are named")
    func namedFiles() throws {
        let bench = try RotationBench()
        for key in [RotatedKey.nonce, .service, .accessToken] {
            for step in [RotationStep.stage, .use, .prune] {
                bench.now += 2 * 86_400
                let outcome = try bench.run(step, of: key)
                for sentence in outcome.next where sentence.contains("on separate disks, ") {
                    for name in KeyFiles.Name.allCases
                    where sentence.split(whereSeparator: { " ,".contains($0) }).contains(Substring(name.rawValue)) {
                        #expect(bench.has(name) == sentence.contains("copy"), "\(sentence)")
                    }
                }
                let waits = outcome.next.contains { $0.hasPrefix("Wait an hour") }
                #expect(waits == (key == .accessToken && step == .stage))
                try bench.restart(0)
                try bench.restart(1)
            }
        }
    }

    @Test("Another nonce secret waits until the former one was removed")
    func formerNonce() throws {
        let bench = try RotationBench()
        for step in [RotationStep.stage, .use] {
            try bench.run(step, of: .nonce)
            try bench.restart(0)
            try bench.restart(1)
        }
        bench.expectRefused(.stage, of: .nonce, "--prune")
        // As if a line was added by hand.
        let file = KeyFiles.file(.nonceSecret, in: bench.directory)
        var secrets = try KeyFiles.nonceSecrets(in: bench.directory)
        let whole = secrets.text.reveal()
        secrets.next = Secret([UInt8](repeating: 7, count: 32))
        try file.replace(secrets.text.reveal())
        bench.expectRefused(.use, of: .nonce, "--prune")
        try file.replace(whole)
        bench.now += 2 * 86_400
        try bench.run(.prune, of: .nonce)
        #expect(try !bench.run(.stage, of: .nonce).changed.isEmpty)
    }

    /// Of two nodes with the former and the new key each accepts what the other signs.
    private func expectEachAccepts(_ key: RotatedKey, _ bench: RotationBench) throws {
        let (new, old) = (bench.nodes[0].keys, bench.nodes[1].keys)
        switch key {
        case .nonce:
            let keys = [new, old].map { $0.nonceSecrets.key(generation: "", in: .first) }
            let thumbprint = Digest256.of("a certificate")
            for (own, other) in [(keys[0], keys[1]), (keys[1], keys[0])] {
                let nonce = Nonce.issue(
                    randomBytes: [UInt8](repeating: 7, count: 16), expiresAt: bench.now, thumbprint: thumbprint,
                    key: own)
                _ = try Nonce(shown: nonce, thumbprint: thumbprint, key: other)
                #expect(throws: Refusal.self) {
                    try Nonce(shown: nonce, thumbprint: Digest256.of("another"), key: other)
                }
            }
            #expect(keys[0].fingerprint != keys[1].fingerprint)
        case .service:
            let ids = [new, old].map { $0.accessTokens.publishedCurves.map(\.id) }
            #expect(Set(ids[0]) == Set(ids[1]) && ids[0].count == 2 && ids[0].first != ids[1].first)
            #expect(new.webKeys.count == 3)
        default:
            let ids = [new, old].map { $0.accessTokens.published.map(\.id) }
            #expect(Set(ids[0]) == Set(ids[1]) && ids[0].count == 2 && ids[0].first != ids[1].first)
            #expect(new.webKeys.count == 3)
        }
    }

    @Test("A version is added to the phone code key, and the former one goes when no code of it is open")
    func phoneCode() throws {
        let bench = try RotationBench()
        func versions() throws -> [Int] {
            try KeyFiles.secrets(.phoneCodeSecrets, in: bench.directory).keys.sorted()
        }
        bench.expectRefused(.stage, of: .phoneCode, "--stage")
        try bench.run(.use, of: .phoneCode)
        #expect(try versions() == [1, 2])
        bench.expectRefused(.prune, of: .phoneCode, "has not read the new key")
        try bench.restart(0)
        try bench.restart(1)
        bench.expectRefused(.prune, of: .phoneCode, "valid until")
        bench.now += 2 * 3600
        try bench.run(.prune, of: .phoneCode)
        #expect(try versions() == [2])
        try bench.restart(0)
    }

    @Test("A version is added to the blind index key, and none is removed by the command")
    func blindIndex() throws {
        let bench = try RotationBench()
        try bench.run(.use, of: .blindIndex)
        #expect(try KeyFiles.secrets(.blindIndexSecrets, in: bench.directory).keys.sorted() == [1, 2])
        bench.expectRefused(.prune, of: .blindIndex, "Keys/README.md")
    }

    @Test("The next server key is used with a certificate for the same hosts, and another next one is made")
    func server() throws {
        let bench = try RotationBench()
        let before = try KeyFiles.server(in: bench.directory, now: bench.now)
        try bench.run(.use, of: .server)
        let after = try KeyFiles.server(in: bench.directory, now: bench.now)
        #expect(after.pin == before.nextPin && after.nextPin != before.nextPin)
        #expect(after.hosts == before.hosts && after.hosts.contains("auth.example"))
        try bench.restart(0)
        try bench.restart(1)
        bench.expectRefused(.stage, of: .server, "--stage")
        // A certificate of another authority needs another one of it.
        let other = try RotationBench()
        for name in [KeyFiles.Name.serverKey, .serverCertificate] {
            let text = try KeyFiles.file(name, in: other.directory).read()
            try KeyFiles.file(name, in: bench.directory).replace(text)
        }
        bench.expectRefused(.use, of: .server, "was not issued by the authority")
    }

    @Test("A rotation of the server key that was stopped after any file is finished by the same command")
    func serverStopped() throws {
        let bench = try RotationBench()
        let names = [KeyFiles.Name.serverKey, .serverCertificate, .nextServerKey]
        let files = names.map { KeyFiles.file($0, in: bench.directory) }
        let before = try files.map { file in try file.read() }
        let hosts = try KeyFiles.server(in: bench.directory, now: bench.now).hosts
        for written in 1...2 {
            try bench.run(.use, of: .server)
            // The files that come later still have their former content.
            for index in written..<3 { try files[index].replace(before[index]) }
            try bench.run(.use, of: .server)
            let after = try KeyFiles.server(in: bench.directory, now: bench.now)
            #expect(try after.hosts == hosts && files[0].read() == before[2])
            #expect(after.pin != after.nextPin)
            for (file, text) in zip(files, before) { try file.replace(text) }
        }
        // Of other keys the pair must match.
        try files[0].replace(try SigningKey.generate().pem.reveal())
        bench.expectRefused(.use, of: .server, "does not belong to")
    }

    @Test("The file of nonce keys has one current secret, and at most one next and one former")
    func nonceFile() throws {
        let line = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc"
        let whole = try #require(NonceSecrets("\(line)\nnext \(line)\nformer \(line)\n"))
        #expect(whole.others.count == 2 && whole.text.reveal() == "\(line)\nnext \(line)\nformer \(line)\n")
        #expect(NonceSecrets(line)?.others.isEmpty == true)
        for text in ["", "next \(line)", "\(line)\n\(line)", "\(line)\nlast \(line)", "AA", "\(line) \(line) \(line)"] {
            #expect(NonceSecrets(text) == nil, "\(text)")
        }
    }
}
