import Authority
import Domain
import Fixtures
import Foundation
import Testing

@testable import countersign

@Suite("Rotating the authority of administrators")
struct AdministratorAuthorityRotationTests {
    private static let rotated: [KeyFiles.Name] = [
        .nextAdminAuthorityKey, .nextAdminAuthorityCertificate, .formerAdminAuthorityCertificate,
    ]

    /// Whether the console of a node accepts a certificate that the current authority issues now.
    private func acceptsNew(_ node: Int, _ bench: RotationBench) throws -> Bool {
        let issuer = try #require(try bench.authority.open(isFirst: false).chain.first)
        return try #require(bench.consoles[node]).chains.contains(issuer)
    }

    @Test("The console trusts the next authority before it signs, and the former one while administrators need it")
    func threeSteps() throws {
        let bench = try RotationBench()
        bench.expectRefused(.stage, of: .administratorAuthority, "admin-ca.pem is missing")
        try bench.serveConsole(on: [0, 1])
        let first = try bench.authority.open(isFirst: false)
        bench.expectRefused(.use, of: .administratorAuthority, "--stage")
        bench.expectRefused(.prune, of: .administratorAuthority, "no former key")
        #expect(try bench.run(.stage, of: .administratorAuthority).changed.count == 2)
        #expect(try bench.run(.stage, of: .administratorAuthority).changed.isEmpty)
        try bench.restart(0)
        bench.expectRefused(.use, of: .administratorAuthority, "has not read the new key")
        try bench.restart(1)
        #expect(try bench.authority.open(isFirst: false).id == first.id)
        try bench.run(.use, of: .administratorAuthority)
        #expect(try bench.authority.open(isFirst: false).id != first.id)
        bench.expectRefused(.stage, of: .administratorAuthority, "--prune")
        // Both accept what is issued now, and what was issued before.
        for restarted in [nil, 0, 1] {
            if let restarted { try bench.restart(restarted) }
            for node in [0, 1] {
                #expect(try acceptsNew(node, bench))
                #expect(try #require(bench.consoles[node]).chains.contains(first.chain[0]))
            }
            if restarted == 0 { bench.expectRefused(.prune, of: .administratorAuthority, "has not read the new key") }
        }
        #expect(try AdministratorAuthorities(in: bench.directory).formerID == first.id)
        bench.formerAdministrators = ["ben", "lena"]
        bench.expectRefused(.prune, of: .administratorAuthority, "ben, lena")
        bench.formerAdministrators = []
        try bench.run(.prune, of: .administratorAuthority)
        bench.expectRefused(.prune, of: .administratorAuthority, "no former key")
        for node in [0, 1] {
            try bench.restart(node)
            #expect(try acceptsNew(node, bench))
        }
        #expect(try #require(bench.consoles[0]).chains.count == 1)
        for name in Self.rotated { #expect(!bench.has(name), "\(name)") }
    }

    @Test("A node without the console reads no authority of administrators, and is not waited for")
    func otherNodes() throws {
        let bench = try RotationBench()
        try bench.serveConsole(on: [1])
        try bench.run(.stage, of: .administratorAuthority)
        bench.expectRefused(.use, of: .administratorAuthority, "has not read the new key")
        try bench.restart(1)
        try bench.run(.use, of: .administratorAuthority)
        try bench.restart(1)
        #expect(try !bench.run(.prune, of: .administratorAuthority).changed.isEmpty)
    }

    @Test("A lost key is replaced as well, since the former authority signs nothing")
    func lostKey() throws {
        let bench = try RotationBench()
        try bench.serveConsole(on: [0, 1])
        try KeyFiles.file(.adminAuthorityKey, in: bench.directory).remove()
        try bench.run(.stage, of: .administratorAuthority)
        for node in [0, 1] { try bench.restart(node) }
        try bench.run(.use, of: .administratorAuthority)
        _ = try bench.authority.open(isFirst: false)
    }

    @Test("A rotation that was stopped after any file is finished by the same command, and the console trusts both")
    func stopped() throws {
        let names = [
            KeyFiles.Name.formerAdminAuthorityCertificate, .adminAuthorityKey, .adminAuthorityCertificate,
            .nextAdminAuthorityCertificate, .nextAdminAuthorityKey,
        ]
        for written in 0..<names.count {
            let bench = try RotationBench()
            let files = names.map { KeyFiles.file($0, in: bench.directory) }
            try bench.serveConsole(on: [0, 1])
            try bench.run(.stage, of: .administratorAuthority)
            for node in [0, 1] { try bench.restart(node) }
            let before = try RotationBench.texts(of: files)
            try bench.run(.use, of: .administratorAuthority)
            let after = try RotationBench.texts(of: files)
            try RotationBench.restore(files.dropFirst(written), to: before.dropFirst(written))
            #expect(try AdministratorAuthorities(in: bench.directory).chains.count == 2, "\(written)")
            try bench.restart(0)
            try bench.run(.use, of: .administratorAuthority)
            #expect(try RotationBench.texts(of: files) == after, "\(written)")
            for node in [0, 1] { try bench.restart(node) }
        }
    }

    @Test("A host that got the next key from another one still trusts the former authority")
    func copiedKey() throws {
        let bench = try RotationBench()
        func file(_ name: KeyFiles.Name) -> KeyFile { KeyFiles.file(name, in: bench.directory) }
        try bench.serveConsole(on: [0, 1])
        try bench.run(.stage, of: .administratorAuthority)
        for node in [0, 1] { try bench.restart(node) }
        let former = try file(.adminAuthorityCertificate).read()
        try file(.adminAuthorityKey).replace(try file(.nextAdminAuthorityKey).read())
        try bench.run(.use, of: .administratorAuthority)
        #expect(try file(.formerAdminAuthorityCertificate).read() == former)
        #expect(try AdministratorAuthorities(in: bench.directory).chains.count == 2)
    }

    @Test("The certificates that a step names are there to be copied, or gone. No key leaves its host for a node")
    func namedFiles() throws {
        let bench = try RotationBench()
        try bench.serveConsole(on: [0, 1])
        for step in RotationStep.allCases {
            let outcome = try bench.run(step, of: .administratorAuthority)
            let named = outcome.next.filter { $0.contains("on separate disks, ") }
            #expect(!named.isEmpty)
            for sentence in named {
                #expect(!sentence.contains(".key"), "\(sentence)")
                let words = sentence.split(whereSeparator: { " ,".contains($0) })
                for name in KeyFiles.Name.allCases where words.contains(Substring(name.rawValue)) {
                    #expect(bench.has(name) == sentence.contains("copy"), "\(sentence)")
                }
            }
            for node in [0, 1] { try bench.restart(node) }
        }
    }
}
