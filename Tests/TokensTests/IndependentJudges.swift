import CJWT
import Domain
import Encoding
import Fixtures
import Foundation
import JWTKit
import Testing
import Tokens

/// What an implementation says of a token's form and signature.
enum Verdict: Equatable {
    case accepted
    case refused
}

/// JWTKit, with one key.
struct JWTKitJudge {
    private struct AnyClaims: JWTPayload {
        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private let keys = JWTKeyCollection()

    init(algorithm: SignatureAlgorithm, pem: String) async throws {
        switch algorithm {
        case .rs256: await keys.add(rsa: try Insecure.RSA.PublicKey(pem: pem), digestAlgorithm: .sha256)
        case .ps256: await keys.add(pss: try Insecure.RSA.PublicKey(pem: pem), digestAlgorithm: .sha256)
        case .es256: await keys.add(ecdsa: try ES256PublicKey(pem: pem))
        case .es384: await keys.add(ecdsa: try ES384PublicKey(pem: pem))
        case .edDSA: await keys.add(eddsa: try EdDSA.PublicKey(pem: pem))
        }
    }

    func judge(_ token: String) async -> Verdict {
        (try? await keys.verify(token, as: AnyClaims.self)) == nil ? .refused : .accepted
    }
}

/// libjwt 1.10, with one key. It knows neither PS256 nor EdDSA.
struct LibJWTJudge {
    private let pem: [UInt8]

    init?(algorithm: SignatureAlgorithm, pem: String) {
        guard algorithm != .ps256, algorithm != .edDSA else { return nil }
        self.pem = Array(pem.utf8)
    }

    func judge(_ token: String) -> Verdict {
        var decoded: OpaquePointer?
        let status = token.withCString { jwt_decode(&decoded, $0, pem, Int32(pem.count)) }
        defer { jwt_free(decoded) }
        return status == 0 ? .accepted : .refused
    }
}

/// PyJWT, run once over many tokens. The interpreter that has it is named by `COUNTERSIGN_PYTHON`.
struct PyJWTJudge {
    private var lines: [String]

    init(algorithm: SignatureAlgorithm, pem: String) {
        let key: [JSONMember] = [
            JSONMember(name: "key", value: .string("key")),
            JSONMember(name: "algorithm", value: .string(algorithm.rawValue)),
            JSONMember(name: "pem", value: .string(pem)),
        ]
        lines = [JSONValue.object(key).jsonText]
    }

    /// Judges tokens, in their order.
    func judge(_ tokens: [String]) throws -> [Verdict] {
        let interpreter = try #require(
            ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"],
            "COUNTERSIGN_PYTHON must name a Python that has PyJWT and cryptography: run the tests with make test")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, output) = (folder.appendingPathComponent("in"), folder.appendingPathComponent("out"))
        let asked = tokens.map { token in
            JSONValue.object([
                JSONMember(name: "key", value: .string("key")), JSONMember(name: "token", value: .string(token)),
            ]).jsonText
        }
        try Data((lines + asked).joined(separator: "\n").utf8).write(to: input)
        try Data().write(to: output)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Interop/Sessions/judge_tokens.py")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: interpreter)
        process.arguments = [script.path]
        process.standardInput = try FileHandle(forReadingFrom: input)
        process.standardOutput = try FileHandle(forWritingTo: output)
        try Command.starting { try process.run() }
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "judge_tokens.py failed")
        let words = String(decoding: try Data(contentsOf: output), as: UTF8.self).split(separator: "\n")
        try #require(words.count == tokens.count)
        return words.map { $0 == "accepted" ? .accepted : .refused }
    }
}
