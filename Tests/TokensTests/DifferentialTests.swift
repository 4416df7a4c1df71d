import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Testing
import Tokens

/// 10,000 tokens, 2,000 for each algorithm, judged by us and by implementations that never saw ours.
///
/// What any of them refuses for its form or signature we must not accept, and what is good all of them must accept.
@Suite("Agreement with JWTKit, libjwt and PyJWT")
struct DifferentialTests {
    private struct Case {
        let text: String
        let isGood: Bool
        /// Whether only the signature is wrong, which every implementation must see.
        var isForged = false
    }

    private static let goodTokens = Soak.count(60, soak: 200)
    private static let bentForEach = 9

    @Test("Hundreds of tokens are judged alike", arguments: SignatureAlgorithm.allCases)
    func agreement(algorithm: SignatureAlgorithm) async throws {
        let bench = try RegisteredProvider(algorithm)
        let cases = try cases(bench)
        #expect(cases.count == Self.goodTokens * (1 + Self.bentForEach))
        let pem = bench.signer.publicKeyPEM
        let jwtKit = try await JWTKitJudge(algorithm: algorithm, pem: pem)
        let libJWT = LibJWTJudge(algorithm: algorithm, pem: pem)
        let pyJWT = try PyJWTJudge(algorithm: algorithm, pem: pem).judge(cases.map(\.text))
        for (judged, python) in zip(cases, pyJWT) {
            let ours: Verdict = (try? bench.verify(judged.text)) == nil ? .refused : .accepted
            // Every bent token is refused here: each byte of it counts.
            #expect(ours == (judged.isGood ? .accepted : .refused), "\(judged.text)")
            let theirs = [
                "JWTKit": await jwtKit.judge(judged.text), "libjwt": libJWT?.judge(judged.text), "PyJWT": python,
            ]
            for (name, verdict) in theirs {
                guard let verdict else { continue }
                // What is bent in other ways they may read more leniently than we do.
                if ours == .accepted || judged.isGood { #expect(verdict == .accepted, "\(name): \(judged.text)") }
                if judged.isForged { #expect(verdict == .refused, "\(name): \(judged.text)") }
            }
        }
    }

    private func cases(_ bench: RegisteredProvider) throws -> [Case] {
        var mutation = Mutation(seed: 20_260_131)
        let stranger =
            try bench.signer.algorithm == .rs256 || bench.signer.algorithm == .ps256
            ? RegisteredProvider.signer(bench.signer.algorithm == .rs256 ? .ps256 : .rs256)
            : ProviderSigner(bench.signer.algorithm)
        var cases: [Case] = []
        var last = try bench.token {
            $0[header: "typ"] = .string("JWT")
            $0[claim: "prn"] = .string("nobody")
        }
        for round in 0..<Self.goodTokens {
            let good = try bench.token { draft in
                // libjwt takes no other typ.
                draft[header: "typ"] = .string("JWT")
                draft[claim: "prn"] = .string("user-\(round)")
                draft[claim: "nce"] = .string(Base64URL.encode(Array("\(mutation.random.next())".utf8)))
                if round % 3 == 0 { draft[claim: "display_name"] = .string("Zoë \"\\ \(round)") }
                if round % 5 == 0 { draft[claim: "extra"] = .array([.null, .bool(true), .number(1.5)]) }
            }
            cases.append(Case(text: good, isGood: true))
            for kind in 0..<Self.bentForEach {
                let text = try bent(good, last: last, kind: kind, signer: bench.signer, stranger: stranger, &mutation)
                cases.append(Case(text: text, isGood: false, isForged: kind < 3))
            }
            last = good
        }
        return cases
    }

    private func bent(
        _ good: String, last: String, kind: Int, signer: ProviderSigner, stranger: ProviderSigner,
        _ mutation: inout Mutation
    ) throws -> String {
        let parts = good.split(separator: ".").map(String.init)
        let others = last.split(separator: ".").map(String.init)
        let input = parts[0] + "." + parts[1]
        switch kind {
        case 0: return parts[0] + "." + parts[1] + "." + others[2]
        case 1: return parts[0] + "." + others[1] + "." + parts[2]
        case 2: return input + "." + Base64URL.encode(try stranger.signature(over: Array(input.utf8)))
        case 3:
            // The public key as an HMAC secret (RFC 8725 §2.1), or no signature at all.
            guard Bool.random(using: &mutation.random) else {
                return Base64URL.encode(Array(#"{"alg":"none"}"#.utf8)) + "." + parts[1] + "."
            }
            let header = Base64URL.encode(Array(#"{"typ":"JWT","alg":"HS256"}"#.utf8))
            let key = SymmetricKey(data: Data(signer.publicKeyPEM.utf8))
            let code = HMAC<SHA256>.authenticationCode(for: Data("\(header).\(parts[1])".utf8), using: key)
            return "\(header).\(parts[1]).\(Base64URL.encode(Array(code)))"
        case 4: return mutation.respell(parts[2]).map { input + "." + $0 } ?? good + "="
        case 5:
            guard let signature = Base64URL.decode(parts[2]) else { return "" }
            let forms = [[0] + signature, signature + [0], Array(signature.dropLast()), signature.map { _ in 0 }]
            return input + "." + Base64URL.encode(forms[Int.random(in: 0..<4, using: &mutation.random)])
        default: return mutation.bend(good)
        }
    }
}
