import Fixtures
import Foundation
import SwiftASN1
import Testing

@testable import Authority

@Suite("A revocation list")
struct RevocationListTests {
    private let authority: TestAuthority

    init() throws {
        authority = try TestAuthority()
    }

    private func list(_ revoked: [RevokedCertificate], number: UInt64 = 7) throws -> RevocationList {
        try authority.authority.issueRevocationList(
            revoked, number: number, thisUpdate: authority.now, nextUpdate: authority.now + 3600)
    }

    @Test("is verified and read by openssl, with number, times, key identifier and reasons")
    func contents() async throws {
        let scratch = try ScratchDirectory()
        let revoked = RevocationReason.allCases.map { reason in
            RevokedCertificate(
                serial: TestAuthority.serial().map { String(format: "%02x", $0) }.joined(),
                revocationDate: authority.now - 86_400, reason: reason)
        }
        let list = try list(revoked, number: 0x80_0001)
        let result = try await Command.run(
            "openssl",
            ["crl", "-text", "-verify", "-CAfile", try scratch.write(authority.certificatePEM, "ca.pem")],
            input: Data(list.pem.utf8))
        #expect(result.errors.contains("verify OK"))
        let expected = [
            "Version 2", "Last Update: Jan 15 08:00:00 2027 GMT", "Next Update: Jan 15 09:00:00 2027 GMT",
            "X509v3 CRL Number: \n                8388609", "X509v3 Authority Key Identifier",
            "Revocation Date: Jan 14 08:00:00 2027 GMT", "Key Compromise", "CA Compromise", "Affiliation Changed",
            "Superseded", "Cessation Of Operation", "Privilege Withdrawn", "AA Compromise",
        ]
        for text in expected { #expect(result.output.contains(text), "\(text)") }
        #expect(!result.output.contains("Unspecified"))
        for certificate in revoked {
            #expect(result.output.lowercased().contains(certificate.serial.drop { $0 == "0" } + "\n"))
        }
    }

    @Test("makes openssl refuse the certificate on it and no other")
    func effect() async throws {
        let scratch = try ScratchDirectory()
        let (bad, good) = (try authority.device().certificate, try authority.device().certificate)
        let list = try list([
            RevokedCertificate(serial: bad.serial, revocationDate: authority.now, reason: .keyCompromise)
        ])
        let arguments = [
            "verify", "-crl_check", "-x509_strict", "-attime", seconds(authority.now + 60),
            "-CAfile", try scratch.write(authority.certificatePEM, "ca.pem"),
            "-CRLfile", try scratch.write(list.pem, "list.pem"),
        ]
        let verdict = try await Command.run("openssl", arguments + [try scratch.write(bad.pem, "bad.pem")])
        #expect(verdict.errors.contains("certificate revoked"))
        try await expectSuccess("openssl", arguments + [try scratch.write(good.pem, "good.pem")])
    }

    @Test("of nothing leaves the entries out, as RFC 5280 §5.1.2.6 demands")
    func empty() async throws {
        let scratch = try ScratchDirectory()
        let list = try list([])
        let result = try await Command.run(
            "openssl",
            ["crl", "-text", "-verify", "-CAfile", try scratch.write(authority.certificatePEM, "ca.pem")],
            input: Data(list.pem.utf8))
        #expect(result.errors.contains("verify OK"))
        #expect(result.output.contains("No Revoked Certificates."))
    }

    @Test(
        "writes times up to 2049 as UTCTime and later ones as GeneralizedTime",
        arguments: [
            (2_524_607_999, "Dec 31 23:59:59 2049"), (2_524_608_000, "Jan  1 00:00:00 2050"),
            (1_835_395_200, "Feb 29 00:00:00 2028"), (951_827_696, "Feb 29 12:34:56 2000"), (0, "Jan  1 00:00:00 1970"),
            (-1, "Dec 31 23:59:59 1969"), (4_107_542_399, "Feb 28 23:59:59 2100"),
            (4_107_542_400, "Mar  1 00:00:00 2100"),
        ])
    func times(seconds: Int, text: String) async throws {
        let list = try list([
            RevokedCertificate(
                serial: "01", revocationDate: Date(timeIntervalSince1970: TimeInterval(seconds) + 0.9),
                reason: .superseded)
        ])
        let result = try await Command.run("openssl", ["crl", "-noout", "-text"], input: Data(list.pem.utf8))
        #expect(result.output.contains("Revocation Date: \(text) GMT"))
    }

    @Test(
        "is not made with a serial that is no number",
        arguments: ["", "xy", "00", "0x12", String(repeating: "1", count: 42)])
    func refusedSerials(serial: String) {
        #expect(throws: AuthorityError.invalidSerial) {
            try list([RevokedCertificate(serial: serial, revocationDate: authority.now, reason: .superseded)])
        }
    }

    @Test("holds many thousand entries")
    func large() throws {
        let revoked = (1...5000).map {
            RevokedCertificate(
                serial: String(format: "%032x", $0), revocationDate: authority.now, reason: .cessationOfOperation)
        }
        let node = try DER.parse(try list(revoked).der)
        let count = try DER.sequence(node, identifier: .sequence) { nodes in
            let list = nodes.next()
            _ = nodes.next()
            _ = nodes.next()
            guard case .constructed(let fields)? = list?.content, let entries = Array(fields).dropFirst(5).first,
                case .constructed(let children) = entries.content
            else { return 0 }
            return Array(children).count
        }
        #expect(count == 5000)
    }
}
