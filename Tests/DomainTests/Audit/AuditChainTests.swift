import Crypto
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Domain

/// A small log with its checkpoints, as bytes that can be tampered with, and its verification.
private struct SmallLog {
    static let key = P256.Signing.PrivateKey()
    static let keys = ["k1": key.publicKey]

    /// Everything that is stored of the log.
    struct Stored {
        var links: [AuditLink] = []
        var checkpoints: [(filed: Int64, token: String)] = []
        var head = AuditChain()
    }

    static func make(_ count: Int, checkpointEvery every: Int) throws -> Stored {
        var stored = Stored()
        for number in 1...count {
            stored.links.append(stored.head.append(entry(number)))
            if number % every == 0 { try sign(&stored) }
        }
        return stored
    }

    static func entry(_ number: Int) -> AuditEntry {
        AuditEntry(
            id: "00000000-0000-4000-8000-00000000000\(number % 10)", milliseconds: 1_800_000_000_000 + Int64(number),
            event: "session_ended", subject: "session \(number)", actor: "admin root",
            detail: number % 2 == 0 ? "x" : nil, reason: number % 3 == 0 ? "ticket:\(number)" : nil)
    }

    static func sign(_ stored: inout Stored, by key: P256.Signing.PrivateKey = Self.key) throws {
        let checkpoint = AuditCheckpoint(
            sequence: stored.head.sequence, digest: stored.head.digest, previous: stored.head.signed,
            at: Date(timeIntervalSince1970: 1_800_000_000))
        stored.checkpoints.append((checkpoint.sequence, try checkpoint.signed(by: key, keyID: "k1")))
        stored.head = AuditChain(
            sequence: stored.head.sequence, digest: stored.head.digest, signed: checkpoint.sequence)
    }

    /// The first defect, as a verifier finds it that walks the log in order.
    static func defect(of stored: Stored) -> AuditChain.Defect? {
        var chain = AuditChain()
        var checkpoints = stored.checkpoints[...]
        do throws(AuditChain.Defect) {
            for link in stored.links {
                try chain.accept(link)
                while let next = checkpoints.first, next.filed <= chain.sequence {
                    try chain.accept(checkpoint: next.token, filed: next.filed, keys: keys)
                    checkpoints.removeFirst()
                }
            }
            if let left = checkpoints.first { throw .truncated(after: chain.sequence, signed: left.filed) }
            guard chain == stored.head else { throw .head(chain.sequence) }
            return nil
        } catch {
            return error
        }
    }
}

@Suite("The audit log's chain")
struct AuditChainTests {
    private let whole: SmallLog.Stored

    init() throws {
        whole = try SmallLog.make(9, checkpointEvery: 3)
    }

    @Test("holds as it was made")
    func holds() throws {
        #expect(SmallLog.defect(of: whole) == nil)
        #expect(whole.checkpoints.map(\.filed) == [3, 6, 9])
    }

    @Test("shows every single byte of every entry that is flipped, by the entry's number")
    func entryBytes() throws {
        var flips = 0
        for (index, link) in whole.links.enumerated() {
            for changed in Self.flips(of: link) {
                var stored = whole
                stored.links[index] = changed
                let defect = try #require(SmallLog.defect(of: stored))
                #expect([.altered(Int64(index + 1)), .missing(Int64(index + 1))].contains(defect))
                flips += 1
            }
        }
        #expect(flips > 1000)
    }

    @Test("shows every single byte of every checkpoint that is flipped, by the entry that it covers")
    func checkpointBytes() throws {
        for (index, checkpoint) in whole.checkpoints.enumerated() {
            for token in Self.flips(of: checkpoint.token) {
                var stored = whole
                stored.checkpoints[index].token = token
                let defect = try #require(SmallLog.defect(of: stored))
                #expect(defect.sequence == checkpoint.filed)
            }
            for filed in Self.flips(of: checkpoint.filed) where filed != checkpoint.filed {
                var stored = whole
                stored.checkpoints[index].filed = filed
                stored.checkpoints.sort { $0.filed < $1.filed }
                #expect(SmallLog.defect(of: stored) != nil)
            }
        }
    }

    @Test("shows each entry that is taken out, put in twice or exchanged with another")
    func order() throws {
        for index in whole.links.indices {
            var stored = whole
            stored.links.remove(at: index)
            #expect(SmallLog.defect(of: stored)?.sequence == Int64(index + 1))
            stored = whole
            stored.links.insert(stored.links[index], at: index)
            #expect(SmallLog.defect(of: stored) != nil)
            for other in whole.links.indices where other > index {
                stored = whole
                stored.links.swapAt(index, other)
                #expect(SmallLog.defect(of: stored)?.sequence == Int64(index + 1))
                // The same with numbers that were mended: the content is what was exchanged.
                stored.links[index] = Self.moved(whole.links[other], to: Int64(index + 1))
                stored.links[other] = Self.moved(whole.links[index], to: Int64(other + 1))
                #expect(SmallLog.defect(of: stored) == .altered(Int64(index + 1)))
            }
        }
    }

    @Test("shows that its end was cut off, with the head and without it")
    func truncation() throws {
        for length in 0..<whole.links.count {
            var stored = whole
            stored.links.removeLast(whole.links.count - length)
            #expect(SmallLog.defect(of: stored)?.sequence == Int64(length + 1))
            // The head was moved back as well: the checkpoint speaks.
            stored.head = AuditChain(
                sequence: Int64(length), digest: stored.links.last?.digest ?? AuditChain.origin, signed: 9)
            #expect(SmallLog.defect(of: stored) == .truncated(after: Int64(length), signed: Int64(length / 3 * 3 + 3)))
        }
    }

    @Test("shows that all digests were made anew after a change, between which checkpoints")
    func rewriting() throws {
        var stored = SmallLog.Stored()
        for number in 1...9 {
            stored.links.append(stored.head.append(SmallLog.entry(number == 5 ? 50 : number)))
        }
        stored.checkpoints = whole.checkpoints
        #expect(SmallLog.defect(of: stored) == .rewritten(after: 3, through: 6))
    }

    @Test("shows a checkpoint that was taken out, and one by a foreign key")
    func checkpoints() throws {
        for index in 0..<2 {
            var stored = whole
            stored.checkpoints.remove(at: index)
            #expect(SmallLog.defect(of: stored) == .checkpointMissing(Int64(index * 3 + 3)))
        }
        var stored = whole
        stored.checkpoints.removeLast()
        #expect(SmallLog.defect(of: stored) == .head(9))
        try SmallLog.sign(&stored, by: P256.Signing.PrivateKey())
        stored.head = whole.head
        #expect(SmallLog.defect(of: stored) == .checkpointForged(9))
        var chain = AuditChain()
        #expect(throws: AuditChain.Defect.checkpointKeyUnknown(3, keyID: "k1")) {
            try chain.accept(checkpoint: whole.checkpoints[0].token, filed: 3, keys: [:])
        }
    }

    @Test("tells by a checkpoint kept elsewhere that a shorter log with its own end is not the same log")
    func witness() throws {
        let kept = try AuditCheckpoint(token: whole.checkpoints[2].token, keys: SmallLog.keys)
        let shorter = try SmallLog.make(6, checkpointEvery: 3)
        #expect(SmallLog.defect(of: shorter) == nil)
        #expect(throws: AuditChain.Defect.truncated(after: 6, signed: 9)) { try shorter.head.witness(kept) }
        #expect(throws: Never.self) { try whole.head.witness(kept) }
    }

    @Test("keeps fields apart: what moves from one into the next changes the digest")
    func fields() {
        func digest(_ subject: String, _ actor: String, _ detail: String?, _ reason: String?) -> Digest256 {
            AuditEntry(
                id: "1", milliseconds: 1, event: "e", subject: subject, actor: actor, detail: detail, reason: reason
            ).digest(sequence: 1, after: AuditChain.origin)
        }
        let digests = [
            digest("ab", "c", nil, nil), digest("a", "bc", nil, nil), digest("ab", "c", "", nil),
            digest("ab", "c", nil, ""), digest("ab", "", "c", nil),
        ]
        #expect(Set(digests).count == digests.count)
    }

    // Tampering.

    private static func moved(_ link: AuditLink, to sequence: Int64) -> AuditLink {
        AuditLink(sequence: sequence, entry: link.entry, digest: link.digest)
    }

    /// Every text that differs in one bit of one byte and is still UTF-8; what is not cannot even be read.
    private static func flips(of text: String) -> [String] {
        text.utf8.indices.enumerated().flatMap { index, _ in
            (0..<8).compactMap { bit in
                var bytes = Array(text.utf8)
                bytes[index] ^= 1 << UInt8(bit)
                return String(validating: bytes, as: UTF8.self)
            }
        }
    }

    private static func flips(of number: Int64) -> [Int64] { (0..<64).map { number ^ (1 << Int64($0)) } }

    private static func flips(of link: AuditLink) -> [AuditLink] {
        let entry = link.entry
        func with(
            id: String? = nil, at: Int64? = nil, event: String? = nil, subject: String? = nil, actor: String? = nil,
            detail: String?? = nil, reason: String?? = nil
        ) -> AuditLink {
            AuditLink(
                sequence: link.sequence,
                entry: AuditEntry(
                    id: id ?? entry.id, milliseconds: at ?? entry.milliseconds, event: event ?? entry.event,
                    subject: subject ?? entry.subject, actor: actor ?? entry.actor, detail: detail ?? entry.detail,
                    reason: reason ?? entry.reason), digest: link.digest)
        }
        var flipped = flips(of: link.sequence).map { moved(link, to: $0) }
        flipped += (0..<256).compactMap { bit in
            var bytes = link.digest.bytes
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            return Digest256(bytes).map { AuditLink(sequence: link.sequence, entry: entry, digest: $0) }
        }
        flipped += flips(of: entry.milliseconds).map { with(at: $0) }
        flipped += flips(of: entry.id).map { with(id: $0) }
        flipped += flips(of: entry.event).map { with(event: $0) }
        flipped += flips(of: entry.subject).map { with(subject: $0) }
        flipped += flips(of: entry.actor).map { with(actor: $0) }
        flipped += flips(of: entry.detail ?? "").map { with(detail: .some($0)) }
        flipped += flips(of: entry.reason ?? "").map { with(reason: .some($0)) }
        flipped += [with(detail: .some(entry.detail == nil ? "" : nil)), with(reason: .some("other"))]
        return flipped
    }
}

@Suite("The reason of an audit entry")
struct AuditReasonTests {
    @Test(
        "is a code or a ticket", arguments: ["user_request", "keyCompromise", "ticket:4711", "a", "GDPR-17.3", "#12/7"])
    func codes(text: String) {
        #expect(AuditReason(text)?.text == text)
    }

    @Test(
        "is no sentence, no number of a person and nothing endless",
        arguments: [
            "", "asked by Ann Example", "+14155552671", "415-555-2671", "4155552671", "ann@example.com", "a\u{0}",
            "Ännchen", String(repeating: "x", count: 65), "tel:41555526",
        ])
    func others(text: String) {
        #expect(AuditReason(text) == nil)
    }
}
