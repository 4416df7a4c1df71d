import Authority
import Domain
import Fixtures
import Foundation
import Testing

@testable import countersign

@Suite("Rotating the authority")
struct AuthorityRotationTests {
    private static let others: [KeyFiles.Name] = [
        .nextAuthorityKey, .nextAuthorityCertificate, .formerAuthorityKey, .formerAuthorityCertificate,
    ]

    /// A device's certificate from the authority that signs on a node.
    private func certificate(on node: Int, _ bench: RotationBench) throws -> [UInt8] {
        let csr = try TestAuthority.certificationRequest(commonName: UUID().uuidString)
        return try bench.nodes[node].keys.authorities.current.issue(
            try CertificationRequest.parse(pkcs10: csr).publicKey, deviceID: DeviceID(UUID()),
            serial: TestAuthority.serial(), now: bench.now, validity: 86_400,
            revocationListURL: TestAuthority.revocationListURL, policyOID: nil
        ).der
    }

    /// Each node accepts the devices of both.
    private func expectEachAccepts(_ bench: RotationBench) throws {
        let devices = try [0, 1].map { try certificate(on: $0, bench) }
        for (keys, _) in bench.nodes {
            let chain = try ClientChain(trusting: keys.authorities.chains)
            for device in devices { _ = try chain.verify([device], now: bench.now) }
        }
    }

    @Test("The next authority is trusted before it signs, and the former one while its certificates are valid")
    func threeSteps() throws {
        let bench = try RotationBench()
        let first = bench.nodes[0].keys.authorities.current.id
        bench.expectRefused(.use, of: .authority, "--stage")
        bench.expectRefused(.prune, of: .authority, "no former key")
        #expect(try bench.run(.stage, of: .authority).changed.count == 2)
        #expect(try bench.run(.stage, of: .authority).changed.isEmpty)
        try bench.restart(0)
        bench.expectRefused(.use, of: .authority, "has not read the new key")
        try bench.restart(1)
        try expectEachAccepts(bench)
        #expect(try !bench.run(.use, of: .authority).changed.isEmpty)
        bench.expectRefused(.stage, of: .authority, "--prune")
        try bench.restart(0)
        #expect(bench.nodes[0].keys.authorities.current.id != first)
        #expect(bench.nodes[0].keys.authorities.former?.id == first)
        #expect(bench.nodes[1].keys.authorities.current.id == first)
        try expectEachAccepts(bench)
        bench.expectRefused(.prune, of: .authority, "has not read the new key")
        try bench.restart(1)
        bench.expectRefused(.prune, of: .authority, "keys rotate server")
        try bench.run(.use, of: .server)
        bench.lastEnd = bench.now + 60
        bench.expectRefused(.prune, of: .authority, "valid until")
        bench.now += 61
        let (device, former) = (
            try certificate(on: 0, bench), try #require(bench.nodes[0].keys.authorities.former)
        )
        #expect(try bench.run(.prune, of: .authority).changed.count == 2)
        bench.expectRefused(.prune, of: .authority, "no former key")
        try bench.restart(0)
        try expectEachAccepts(bench)
        try bench.restart(1)
        let chain = try ClientChain(trusting: bench.nodes[0].keys.authorities.chains)
        _ = try chain.verify([device], now: bench.now)
        #expect(throws: ClientChain.Defect.unknownIssuer) {
            let csr = try TestAuthority.certificationRequest(commonName: UUID().uuidString)
            let late = try former.issue(
                try CertificationRequest.parse(pkcs10: csr).publicKey, deviceID: DeviceID(UUID()),
                serial: TestAuthority.serial(), now: bench.now, validity: 60,
                revocationListURL: TestAuthority.revocationListURL, policyOID: nil)
            _ = try chain.verify([late.der], now: bench.now)
        }
        for name in Self.others { #expect(!bench.has(name), "\(name)") }
    }

    @Test("A node that does not trust the next authority keeps out a node that signs with it")
    func unstaged() throws {
        let bench = try RotationBench()
        let unstaged = bench.members[1]
        try bench.run(.stage, of: .authority)
        for node in [0, 1] { try bench.restart(node) }
        try bench.run(.use, of: .authority)
        try bench.restart(0)
        let found = NodeAgreement.disagreements(
            of: bench.members[0].fingerprints, with: [unstaged], allowsOtherPolicies: false, now: bench.now)
        #expect(!found.isEmpty)
    }

    @Test("A rotation that was stopped after any file is finished by the same command, and keeps the former key")
    func stopped() throws {
        let names = [
            KeyFiles.Name.formerAuthorityKey, .formerAuthorityCertificate, .authorityKey, .authorityCertificate,
            .nextAuthorityCertificate, .nextAuthorityKey,
        ]
        for written in 1..<names.count {
            let bench = try RotationBench()
            let files = names.map { KeyFiles.file($0, in: bench.directory) }
            try bench.run(.stage, of: .authority)
            for node in [0, 1] { try bench.restart(node) }
            let before = try RotationBench.texts(of: files)
            try bench.run(.use, of: .authority)
            let after = try RotationBench.texts(of: files)
            try RotationBench.restore(files.dropFirst(written), to: before.dropFirst(written))
            try bench.run(.use, of: .authority)
            #expect(try RotationBench.texts(of: files) == after, "\(written)")
            for node in [0, 1] { try bench.restart(node) }
        }
    }

    @Test("The files that a step names are there to be copied, or gone")
    func namedFiles() throws {
        let bench = try RotationBench()
        for step in [RotationStep.stage, .use, .prune] {
            if step == .prune { try bench.run(.use, of: .server) }
            let outcome = try bench.run(step, of: .authority)
            for sentence in outcome.next where sentence.contains("on separate disks, ") {
                let words = sentence.split(whereSeparator: { " ,".contains($0) })
                for name in KeyFiles.Name.allCases where words.contains(Substring(name.rawValue)) {
                    #expect(bench.has(name) == sentence.contains("copy"), "\(sentence)")
                }
            }
            for node in [0, 1] { try bench.restart(node) }
        }
    }

    @Test("A key and a certificate that the operator put there are staged, if they belong together")
    func ownNext() throws {
        let bench = try RotationBench()
        let own = try TestAuthority(now: bench.now)
        try KeyFiles.file(.nextAuthorityKey, in: bench.directory).create(own.keyPEM)
        try KeyFiles.file(.nextAuthorityCertificate, in: bench.directory).create(
            try TestAuthority(now: bench.now).certificatePEM)
        bench.expectRefused(.stage, of: .authority, "does not belong to its key")
        try KeyFiles.file(.nextAuthorityCertificate, in: bench.directory).replace(own.certificatePEM)
        #expect(try bench.run(.stage, of: .authority).changed.isEmpty)
        for node in [0, 1] { try bench.restart(node) }
        try bench.run(.use, of: .authority)
        try bench.restart(0)
        #expect(bench.nodes[0].keys.authorities.current.id == own.authority.id)
    }
}
