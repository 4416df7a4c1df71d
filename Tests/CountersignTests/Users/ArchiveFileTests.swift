import Crypto
import Domain
import Fixtures
import Foundation
import Testing

@testable import countersign

/// Archives as Debian's `age` sees them.
@Suite("Archive files")
struct ArchiveFileTests {
    /// A pair of keys as `age-keygen` makes it.
    private struct AgeKey {
        let file: String
        let recipient: String

        init(_ scratch: ScratchDirectory, _ name: String) async throws {
            file = scratch.file(name)
            let made = try await Command.run("age-keygen", ["-o", file])
            recipient = try #require(made.errors.split(separator: " ").last.map(String.init))
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }

        func decrypt(_ archive: String, to plain: String) async throws -> Command.Result {
            try await Command.run("age", ["--decrypt", "-i", file, "-o", plain, archive])
        }
    }

    private static func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max) }
    }

    /// Writes an archive of some bytes in pieces of a size.
    private static func write(_ plain: [UInt8], for recipients: [String], to path: String, piece: Int) throws {
        let file = try ArchiveFile(path: path)
        var writer = try AgeWriter(
            recipients: try recipients.map { text throws(CommandFailure) in try AgeRecipient(text) },
            randomBytes: randomBytes
        ) { try file.write($0) }
        for start in stride(from: 0, to: plain.count, by: piece) {
            try writer.write(plain[start..<min(start + piece, plain.count)])
        }
        try writer.finish()
        try file.finish()
    }

    @Test(
        "age opens an archive of any size, whatever the pieces it was written in",
        arguments: [
            (0, 1), (1, 1), (65_535, 1000), (65_536, 65_536), (65_536, 7), (65_537, 65_537), (131_072, 4096),
            (131_073, 131_073), (300_000, 99_991),
        ])
    func sizes(size: Int, piece: Int) async throws {
        let scratch = try ScratchDirectory()
        let identity = try await AgeKey(scratch, "key")
        let plain = Self.randomBytes(size)
        try Self.write(plain, for: [identity.recipient], to: scratch.file("archive"), piece: piece)
        let opened = try await identity.decrypt(scratch.file("archive"), to: scratch.file("plain"))
        #expect(opened.status == 0, "\(opened.errors)")
        // age makes no file for no bytes.
        let isThere = FileManager.default.fileExists(atPath: scratch.file("plain"))
        #expect(isThere == (size > 0))
        if isThere { #expect(try Array(Data(contentsOf: URL(filePath: scratch.file("plain")))) == plain) }
        let mode = try FileManager.default.attributesOfItem(atPath: scratch.file("archive"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let overhead = try Data(contentsOf: URL(filePath: scratch.file("archive"))).count - size
        #expect(overhead == 184 + 16 * max(1, (size + 65_535) / 65_536))
    }

    @Test("Each recipient opens it, another key and a changed or shortened file do not")
    func recipients() async throws {
        let scratch = try ScratchDirectory()
        let (first, second, stranger) = (
            try await AgeKey(scratch, "first"), try await AgeKey(scratch, "second"),
            try await AgeKey(scratch, "stranger")
        )
        let (path, plain) = (scratch.file("archive"), Self.randomBytes(100_000))
        try Self.write(plain, for: [first.recipient, second.recipient], to: path, piece: 5000)
        for (index, identity) in [first, second].enumerated() {
            #expect(try await identity.decrypt(path, to: scratch.file("plain \(index)")).status == 0)
            #expect(try Array(Data(contentsOf: URL(filePath: scratch.file("plain \(index)")))) == plain)
        }
        #expect(try await stranger.decrypt(path, to: scratch.file("none")).status != 0)
        let whole = try Array(Data(contentsOf: URL(filePath: path)))
        var changed = whole
        changed[whole.count - 40_000] ^= 1
        var added = whole
        added.append(0)
        for (index, bytes) in [changed, added, Array(whole.dropLast(34_480)), Array(whole.dropLast())].enumerated() {
            let other = try scratch.write(bytes, "changed \(index)")
            #expect(try await first.decrypt(other, to: scratch.file("none")).status != 0)
        }
    }

    @Test("The service's own keys open nothing of it")
    func serviceKeys() async throws {
        let scratch = try ScratchDirectory()
        let holder = try await AgeKey(scratch, "holder")
        let path = scratch.file("archive")
        try Self.write(Array("secret".utf8), for: [holder.recipient], to: path, piece: 6)
        var creation = KeyCreation(
            directory: scratch.file("Keys"), hosts: ["localhost"], now: Date(), randomBytes: Self.randomBytes)
        _ = try creation.run()
        for name in [KeyFiles.Name.phoneCodeSecrets, .wrappingSecrets, .blindIndexSecrets] {
            for secret in try KeyFiles.secrets(name, in: scratch.file("Keys")).values {
                let text = TestBech32.encode(secret.reveal(), word: "age-secret-key-").uppercased()
                let identity = try scratch.write(text + "\n", "identity")
                let opened = try await Command.run("age", ["--decrypt", "-i", identity, path])
                #expect(opened.status != 0)
                // The key was read, and is not the one.
                #expect(opened.errors.contains("no identity matched"))
            }
        }
    }

    @Test(
        "What is no public key of age is refused in a sentence",
        arguments: [
            "", "age1", "age", "AGE1", "recipient", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA",
            "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq",
            "age1yubikey1q2w7u3vpya839jxxuq8g0sedh3d740d4xvn639sqhr95ejj8vu3hyfumptt",
            String(repeating: "age1", count: 99),
        ])
    func refusals(text: String) throws {
        let refused = #expect(throws: CommandFailure.self) { try AgeRecipient(text) }
        #expect(refused?.exitCode == .usage)
    }

    @Test("One wrong character of a public key is found, wherever it is; a key that protects nothing is refused")
    func checksum() async throws {
        let scratch = try ScratchDirectory()
        let right = try await AgeKey(scratch, "key").recipient
        #expect(try AgeRecipient(right).text == right)
        #expect(throws: CommandFailure.self) { try AgeRecipient(right.uppercased()) }
        for index in 0..<right.utf8.count {
            var bytes = Array(right.utf8)
            bytes[index] = bytes[index] == UInt8(ascii: "q") ? UInt8(ascii: "p") : UInt8(ascii: "q")
            #expect(throws: CommandFailure.self) { try AgeRecipient(String(decoding: bytes, as: UTF8.self)) }
        }
        for low in [UInt8(0), 1] {
            let point = [low] + [UInt8](repeating: 0, count: 31)
            #expect(throws: CommandFailure.self) { try AgeRecipient(TestBech32.encode(point, word: "age")) }
        }
        let short = TestBech32.encode([UInt8](repeating: 9, count: 31), word: "age")
        #expect(throws: CommandFailure.self) { try AgeRecipient(short) }
    }

    @Test("A private key given instead is called leaked, and not repeated")
    func privateKey() async throws {
        let scratch = try ScratchDirectory()
        let identity = try await AgeKey(scratch, "key")
        let secret = try #require(
            try scratch.text("key").split(separator: "\n").first { $0.hasPrefix("AGE-SECRET-KEY-") })
        for text in [String(secret), secret.lowercased()] {
            let refused = #expect(throws: CommandFailure.self) { try AgeRecipient(text) }
            #expect(refused?.sentence.contains(secret.dropFirst(20).prefix(8)) == false)
            #expect(refused?.sentence.lowercased().contains(secret.lowercased().dropFirst(20).prefix(8)) == false)
        }
        #expect(try AgeRecipient(identity.recipient).text == identity.recipient)
    }

    @Test("A file that is there is not replaced, and one that is not finished leaves nothing")
    func files() throws {
        let scratch = try ScratchDirectory()
        let path = try scratch.write("kept", "archive")
        #expect(throws: CommandFailure.self) { try ArchiveFile(path: path) }
        #expect(try scratch.text("archive") == "kept")
        let other = try ArchiveFile(path: scratch.file("other"))
        try other.write([1, 2, 3])
        #expect(!FileManager.default.fileExists(atPath: scratch.file("other")))
        other.discard()
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["archive"])
        #expect(throws: CommandFailure.self) { try ArchiveFile(path: scratch.file("nowhere/archive")) }
    }

    @Test(
        "A day or a moment in UTC says since when",
        arguments: [
            ("1970-01-02", 86_400.0), ("2026-11-21T10:55:00Z", 1_795_258_500), ("2026-11-21T10:55:00", nil),
            ("2026-11-21T24:00:00Z", nil), ("2026-02-30", nil), ("yesterday", nil), ("", nil),
            ("2026-11-21 10:55:00Z", nil), ("2026-11-21T1+:55:00Z", nil),
        ] as [(String, Double?)])
    func moments(text: String, seconds: Double?) {
        #expect(UserCommand.Archive.moment(text)?.timeIntervalSince1970 == seconds)
    }
}

/// The writing half of Bech32 (BIP 173), which the service has no use for.
enum TestBech32 {
    static func encode(_ bytes: [UInt8], word: String) -> String {
        var values: [Int] = []
        var (accumulator, count) = (0, 0)
        for byte in bytes {
            accumulator = (accumulator << 8 | Int(byte)) & 0xFFFF
            count += 8
            while count >= 5 {
                count -= 5
                values.append(accumulator >> count & 31)
            }
        }
        if count > 0 { values.append(accumulator << (5 - count) & 31) }
        let expanded = word.utf8.map { Int($0) >> 5 } + [0] + word.utf8.map { Int($0) & 31 }
        var sum = 1
        for value in expanded + values + [0, 0, 0, 0, 0, 0] {
            let top = sum >> 25
            sum = (sum & 0x1FF_FFFF) << 5 ^ value
            for (bit, term) in [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3].enumerated()
            where top >> bit & 1 == 1 {
                sum ^= term
            }
        }
        let check = (0..<6).map { (sum ^ 1) >> (5 * (5 - $0)) & 31 }
        let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l")
        return word + "1" + String((values + check).map { alphabet[$0] })
    }
}
