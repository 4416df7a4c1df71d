import Domain
import Encoding
import Fixtures
import Foundation
import Testing
import Tokens

@Suite("Token check")
struct TokenCheckTests {
    private func check(_ compact: String, by bench: RegisteredProvider) -> TokenCheck {
        bench.verifier.check(compact, provider: bench.provider, keys: [bench.key], now: RegisteredProvider.now)
    }

    @Test("A good token has no defect; its clock and nonce are told")
    func good() throws {
        let bench = try RegisteredProvider()
        let report = check(try bench.token { $0.lives(from: RegisteredProvider.now + 42, for: 300) }, by: bench)
        #expect(report.defects.isEmpty)
        #expect(report.clockSkew == 42)
        #expect(report.nonce == "n-1")
    }

    @Test("A clock has no difference below a second", arguments: [0, 0.4, 0.6, 0.99])
    func fraction(seconds: TimeInterval) throws {
        let bench = try RegisteredProvider()
        let compact = try bench.token { $0.lives(from: RegisteredProvider.now, for: 300) }
        for (shift, skew) in [(seconds, 0), (-seconds, 0), (seconds + 2, -2)] {
            let report = bench.verifier.check(
                compact, provider: bench.provider, keys: [bench.key], now: RegisteredProvider.now + shift)
            #expect(report.clockSkew == skew, "\(shift)")
        }
    }

    @Test("All that is wrong is told at once, in the order of judging")
    func everything() throws {
        let bench = try RegisteredProvider()
        let compact = try bench.token { draft in
            draft[header: "zip"] = .string("DEF")
            draft[header: "typ"] = nil
            draft[header: "cty"] = .string("layer-provider;v=1")
            draft[claim: "prn"] = nil
            draft[claim: "nce"] = nil
            draft.lives(from: RegisteredProvider.now - 5000, for: 700)
            draft[claim: "nbf"] = .integer(RegisteredProvider.seconds + 100)
            draft[claim: "aud"] = .string("elsewhere")
        }
        let report = check(compact.dropLast(4) + "AAAA", by: bench)
        #expect(
            report.defects.map(\.reason) == [
                .unsupportedHeader, .wrongType, .wrongType, .badSignature, .missingClaim, .missingClaim, .notYetValid,
                .expired, .lifetimeTooLong, .wrongAudience,
            ])
        #expect(report.clockSkew == -5000)
        #expect(report.nonce == nil)
    }

    @Test("The sentences say by how many seconds")
    func sentences() throws {
        let bench = try RegisteredProvider()
        let late = check(try bench.token { $0.lives(from: RegisteredProvider.now - 402, for: 300) }, by: bench)
        #expect(late.defects.map(\.reason) == [.expired])
        #expect(late.defects.allSatisfy { $0.detail.contains("exp") && $0.detail.contains("102 s") })
    }

    @Test("What verification refuses, the check names too", arguments: Bend.all)
    func agrees(bend: Bend) throws {
        let bench = try RegisteredProvider()
        let report = check(try bench.token(bend.edit), by: bench)
        #expect(report.defects.map(\.reason).contains(bend.reason))
    }

    @Test("Of another provider's token only the issuer is told")
    func foreign() throws {
        let (ours, theirs) = (try RegisteredProvider(), try RegisteredProvider())
        let report = check(try theirs.token { $0[header: "crit"] = .null }, by: ours)
        #expect(report.defects.map(\.reason) == [.unknownIssuer])
        #expect(report.clockSkew == nil)
        #expect(report.nonce == nil)
    }

    @Test("What cannot be read has one defect")
    func unreadable() throws {
        let report = check("a.b.c.d.e", by: try RegisteredProvider())
        #expect(report.defects.map(\.reason) == [.malformed])
    }
}
