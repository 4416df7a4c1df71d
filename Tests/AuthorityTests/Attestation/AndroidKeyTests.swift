import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Testing
import X509

@testable import Authority

@Suite("An attestation of an Android key")
struct AndroidKeyTests {
    private static let digest = AttestationVerifier.digest(challenge: "challenge", subject: "device")
    private static let apps = [
        AttestedApp(package: AndroidKeyMint.package, certificate: AndroidKeyMint.signer)
    ].compactMap(\.self)

    private func verify(
        _ mint: AndroidKeyMint, _ chain: [[UInt8]], digest: Digest256 = digest, apps: [AttestedApp] = apps,
        levels: Set<DeviceAttestation.Level> = [.tee, .strongBox], oldestPatch: Int = 0,
        key: P256.Signing.PrivateKey? = nil, root: [UInt8]? = nil
    ) throws -> DeviceAttestation {
        let verifier = try AttestationVerifier(apple: [], google: [root ?? mint.root()])
        let publicKey = (key ?? mint.deviceKey).publicKey
        return try verifier.verifyAndroidKey(
            chain, key: DevicePublicKey(subjectPublicKeyInfo: Array(publicKey.derRepresentation)), digest: digest,
            apps: apps, demands: (levels, oldestPatch), now: mint.now)
    }

    /// The defect of a chain with these faults; `nil` if it is accepted.
    private func defect(
        digest: Digest256 = digest, apps: [AttestedApp] = apps,
        levels: Set<DeviceAttestation.Level> = [.tee, .strongBox], oldestPatch: Int = 0,
        _ fault: (inout AndroidKeyMint) -> Void = { _ in }, changing change: (inout [[UInt8]]) -> Void = { _ in }
    ) throws -> AttestationDefect? {
        var mint = AndroidKeyMint()
        fault(&mint)
        var chain = try mint.chain(Self.digest)
        change(&chain)
        do {
            _ = try verify(mint, chain, digest: digest, apps: apps, levels: levels, oldestPatch: oldestPatch)
        } catch let error as AttestationDefect { return error }
        return nil
    }

    @Test("names level, app, patch level and the serial numbers of its chain")
    func accepted() throws {
        var mint = AndroidKeyMint()
        mint.batchSerial = [0x0A, 0xBC]
        let found = try verify(mint, mint.chain(Self.digest))
        guard case .androidKey(let level, let app, let patchLevel, let serials) = found else {
            Issue.record("\(found)")
            return
        }
        #expect(level == .tee && app == Self.apps.first && patchLevel == 202_603)
        #expect(serials.count == 3 && serials[0] == "1" && serials[1] == "abc")
        (mint.attestationLevel, mint.keyLevel) = (2, 2)
        #expect(try verify(mint, mint.chain(Self.digest)).level == .strongBox)
        // The weaker of the two is reported.
        mint.keyLevel = 1
        #expect(try verify(mint, mint.chain(Self.digest)).level == .tee)
    }

    @Test("leads to a pinned key, with the root's certificate in the chain or without, and though that one expired")
    func roots() throws {
        #expect(try defect { $0.hasRoot = true } == nil)
        #expect(try defect { ($0.hasRoot, $0.rootUntil) = (true, $0.now - 86_400) } == nil)
        let mint = AndroidKeyMint()
        #expect(throws: AttestationDefect.androidRoot) {
            try verify(mint, mint.chain(Self.digest), root: AndroidKeyMint().root())
        }
        #expect(try defect(changing: { $0.removeLast() }) == .androidRoot)
        // No other signature is verified before that.
        #expect(try defect(changing: { $0.swapAt(1, 2) }) == .androidRoot)
    }

    @Test("has certificates that sign the one before, and that are an authority's")
    func chain() throws {
        #expect(try defect({ $0.hasRoot = true }, changing: { $0.swapAt(1, 2) }) == .androidChain)
        #expect(try defect(changing: { $0.remove(at: 1) }) == .androidChain)
        #expect(try defect(changing: { $0 = [$0[0]] }) == .androidChain)
        #expect(try defect(changing: { $0 += Array(repeating: $0[2], count: 8) }) == .androidChain)
        #expect(try defect(changing: { $0[1].append(0) }) == .androidChain)
    }

    @Test("has authorities that are valid now, and those from the factory count after their end")
    func validity() throws {
        #expect(try defect { $0.batchUntil = $0.now - 60 } == .androidValidity)
        #expect(try defect { $0.intermediateUntil = $0.now - 60 } == .androidValidity)
        #expect(try defect { ($0.isRemote, $0.batchUntil) = (false, $0.now - 60) } == nil)
        #expect(try defect { ($0.isRemote, $0.intermediateUntil) = (false, $0.now - 60) } == nil)
        #expect(
            try defect { ($0.isRemote, $0.factoryTitle, $0.batchUntil) = (false, "StrongBox", $0.now - 60) } == nil)
        // Only what the root certified names the factory, and with its own words.
        #expect(
            try defect { ($0.isRemote, $0.factoryTitle, $0.batchUntil) = (false, "tee", $0.now - 60) }
                == .androidValidity)
        for isRemote in [true, false] {
            #expect(try defect { ($0.isRemote, $0.batchFrom) = (isRemote, $0.now + 60) } == .androidValidity)
            #expect(try defect { ($0.isRemote, $0.intermediateFrom) = (isRemote, $0.now + 60) } == .androidValidity)
        }
    }

    @Test("has dates of its own that the device set, and that say nothing")
    func leafDates() throws {
        #expect(try defect { $0.leafUntil = $0.now - 60 } == nil)
        #expect(try defect { $0.leafFrom = $0.now + 60 } == nil)
    }

    @Test("has issuers that are the subjects of the next certificates, up to the root's name")
    func names() throws {
        for hasRoot in [false, true] {
            #expect(try defect { ($0.hasRoot, $0.leafIssuer) = (hasRoot, "other") } == .androidNames)
            #expect(try defect { ($0.hasRoot, $0.batchIssuer) = (hasRoot, "other") } == .androidNames)
            #expect(try defect { ($0.hasRoot, $0.intermediateIssuer) = (hasRoot, "other") } == .androidNames)
        }
    }

    @Test("has authorities that may sign certificates, and not more of them than one permits")
    func authorities() throws {
        #expect(try defect { $0.isBatchAuthority = false } == .androidAuthority)
        #expect(try defect { $0.batchUsage = KeyUsage(digitalSignature: true) } == .androidAuthority)
        #expect(try defect { $0.batchUsage = KeyUsage(keyCertSign: true) } == nil)
        #expect(try defect { $0.pathLength = 0 } == .androidPathLength)
        #expect(try defect { $0.pathLength = 1 } == nil)
    }

    @Test("has no unknown critical extension in any certificate, and no constraint on names")
    func extensions() throws {
        for place in 0..<3 {
            for found in [AttestationCertificate.unknown, AttestationCertificate.nameConstraints] {
                #expect(try defect { $0.extensions[place] = [found] } == .androidExtension, "\(place)")
                var optional = found
                optional.critical = false
                #expect(try defect { $0.extensions[place] = [optional] } == nil, "\(place)")
            }
        }
    }

    @Test("is bound to its app, and is not for every app of the device")
    func allApplications() throws {
        #expect(try defect { $0.isForAllApplications.hardware = true } == .allApplications)
        #expect(try defect { $0.isForAllApplications.software = true } == .allApplications)
        #expect(try defect { $0.hasApplication = false } == .androidApp)
    }

    @Test("is the last description of its chain, so that nobody extends a true one")
    func extended() throws {
        let mint = AndroidKeyMint()
        let own = P256.Signing.PrivateKey()
        #expect(throws: AttestationDefect.extended) {
            try verify(mint, mint.extendedChain(Self.digest, by: own), key: own)
        }
    }

    @Test("is of the key of the request, for its challenge and device id")
    func binding() throws {
        let mint = AndroidKeyMint()
        #expect(throws: AttestationDefect.androidKey) {
            try verify(mint, mint.chain(Self.digest), key: P256.Signing.PrivateKey())
        }
        let other = AttestationVerifier.digest(challenge: "challenge", subject: "other")
        #expect(try defect(digest: other) == .androidChallenge)
    }

    @Test("is of hardware: neither the key nor the attestation is made in software")
    func level() throws {
        #expect(try defect { $0.attestationLevel = 0 } == .androidLevel)
        #expect(try defect { $0.keyLevel = 0 } == .androidLevel)
        #expect(try defect { ($0.attestationLevel, $0.keyLevel) = (3, 3) } == .androidLevel)
        #expect(try defect(levels: [.strongBox]) == .androidLevel)
        #expect(try defect { $0.origin = 2 } == .origin)
        #expect(try defect { $0.origin = nil } == .origin)
    }

    @Test("is of a locked device with a verified system, as the hardware says")
    func boot() throws {
        #expect(try defect { $0.isLocked = false } == .boot)
        for state in 1...3 { #expect(try defect { $0.bootState = state } == .boot) }
        #expect(try defect { $0.isBootOfSoftware = true } == .boot)
    }

    @Test("is of a key that signs, and signs no descriptions")
    func purposes() throws {
        #expect(try defect { $0.purposes = [2] } == nil)
        #expect(try defect { $0.purposes = [3] } == .purpose)
        #expect(try defect { $0.purposes = [] } == .purpose)
        #expect(try defect { $0.purposes = [2, 7] } == .purpose)
    }

    @Test("is of a registered app with its registered signer")
    func app() throws {
        #expect(try defect(apps: []) == .androidApp)
        #expect(try defect { $0.package = "com.example.other" } == .androidApp)
        #expect(try defect { $0.signer = Digest256.of("other") } == .androidApp)
        #expect(try defect(apps: [AttestedApp(apple: AppAttestMint.app)].compactMap(\.self)) == .androidApp)
    }

    @Test("is of a system that is new enough")
    func patches() throws {
        #expect(try defect(oldestPatch: 202_603) == nil)
        #expect(try defect(oldestPatch: 202_604) == .patchLevel)
        #expect(try defect { $0.patchLevel = nil } == nil)
        #expect(try defect(oldestPatch: 202_001) { $0.patchLevel = nil } == .patchLevel)
    }

    @Test("contains no identifier of the device")
    func identifiers() throws {
        for tag in Array(710...717) + [723] as [UInt] {
            #expect(try defect { $0.identifiers = [tag] } == .identifiers, "\(tag)")
        }
        #expect(try defect { $0.uniqueID = [1] } == .identifiers)
        // Each tag once.
        #expect(try defect { $0.identifiers = [718, 718] } == .description)
    }

    @Test("is never accepted with a bit changed", arguments: Soak.seeds(2, soak: 200))
    func flips(seed: UInt64) throws {
        let mint = AndroidKeyMint()
        let chain = try mint.chain(Self.digest)
        var random = SeededRandom(seed: seed)
        var accepted: [(Int, Int)] = []
        for _ in 0..<250 {
            var changed = chain
            let index = Int.random(in: chain.indices, using: &random)
            let place = Int.random(in: chain[index].indices, using: &random)
            changed[index][place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            if (try? verify(mint, changed)) != nil { accepted.append((index, place)) }
        }
        #expect(accepted.isEmpty)
    }

    @Test("that a phone of Google's made is read, and is valid as long as its certificates")
    func published() throws {
        let chain = try PublishedKeyChain.certificates()
        let verifier = AttestationVerifier.published
        #expect(verifier.apple.count == 1 && verifier.google.count == 2)
        let read = try AttestationChain(chain, roots: verifier.google, now: PublishedKeyChain.made)
        #expect(read.description.securityLevel == 1)
        #expect(read.description.challenge.elementsEqual("challenge".utf8))
        #expect(try read.description.hardware.purposes == [2])
        #expect(try read.description.hardware.origin == 0)
        #expect(try read.description.hardware.patchLevel == 202_302)
        #expect(try read.description.hardware.boot?.isLocked == true)
        #expect(try read.description.hardware.boot?.state == 0)
        let application = try #require(try read.description.software.application)
        #expect(application.packages.map { String(decoding: $0, as: UTF8.self) } == [PublishedKeyChain.package])
        #expect(read.serials.count == 5 && read.serials.last == "d50ff25ba3f2d6b3")
        // Its root may be left out, but nothing else.
        #expect(
            try AttestationChain(chain.dropLast(), roots: verifier.google, now: PublishedKeyChain.made).serials.count
                == 4)
        #expect(throws: AttestationDefect.androidRoot) {
            try AttestationChain(Array(chain.prefix(3)), roots: verifier.google, now: PublishedKeyChain.made)
        }
        #expect(throws: AttestationDefect.androidValidity) {
            try AttestationChain(chain, roots: verifier.google, now: PublishedKeyChain.made + 60 * 86_400)
        }
    }
}
