import Authority
import Crypto
import Domain
import Fixtures
import Foundation
import Testing

@Suite("pkilint finds nothing to warn of")
struct LintTests {
    private func lint(_ program: String, _ options: [String], _ pem: String) async throws {
        let scratch = try ScratchDirectory()
        let result = try await Command.run(
            try Command.python(program),
            ["lint"] + options + ["-s", "WARNING", "-f", "CSV", try scratch.write(pem, "document.pem")], seconds: 400)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        // The heading stands alone where nothing was found.
        #expect(result.output.split(whereSeparator: \.isNewline).count <= 1, "\(result.output)")
        #expect(result.errors.isEmpty, "\(result.errors)")
    }

    @Test("in the certificates of a device, of the server and of the authority")
    func certificates() async throws {
        let authority = try TestAuthority()
        try await lint("lint_pkix_cert", [], try authority.device().certificate.pem)
        try await lint("lint_pkix_cert", [], try Self.ofDefaultPolicies(authority).pem)
        try await lint("lint_pkix_cert", [], authority.certificatePEM)
        let server = try authority.authority.issueServerCertificate(
            try SigningKey.generate().key, hosts: ["countersign.example.com", "192.0.2.1"],
            serial: TestAuthority.serial(), now: authority.now, validity: 86_400)
        try await lint("lint_pkix_cert", [], server.pem)
    }

    /// A certificate as the policies that are shipped have it made.
    private static func ofDefaultPolicies(_ authority: TestAuthority) throws -> IssuedCertificate {
        let rules = Policy().certification
        return try authority.certify(
            DevicePublicKey(subjectPublicKeyInfo: Array(P256.Signing.PrivateKey().publicKey.derRepresentation)),
            validity: Int(rules.validity), policyOID: rules.policyOID.isEmpty ? nil : rules.policyOID)
    }

    @Test("and the certificate that the default policies make has no number that needs more than 31 bits")
    func objectIdentifiers() async throws {
        let certificate = try Self.ofDefaultPolicies(try TestAuthority())
        let scratch = try ScratchDirectory()
        let shown = try await expectSuccess(
            "openssl", ["asn1parse", "-in", try scratch.write(certificate.pem, "leaf.pem")])
        #expect(!shown.output.contains("Certificate Policies"))
        let arcs = shown.output.matches(of: /[0-9]+(\.[0-9]+){3,}/).flatMap { $0.output.0.split(separator: ".") }
        #expect(arcs.allSatisfy { Int32($0) != nil })
    }

    @Test("in a revocation list with every reason, and in an empty one")
    func revocationLists() async throws {
        let authority = try TestAuthority()
        let revoked = RevocationReason.allCases.enumerated().map { index, reason in
            RevokedCertificate(serial: "80\(index)0", revocationDate: authority.now - 5, reason: reason)
        }
        for entries in [revoked, []] {
            let list = try authority.authority.issueRevocationList(
                entries, number: 1, thisUpdate: authority.now, nextUpdate: authority.now + 3600)
            try await lint("lint_crl", ["-t", "CRL", "-p", "PKIX"], list.pem)
        }
    }

    @Test("and does find what is wrong, so that its silence means something")
    func judgeJudges() async throws {
        let scratch = try ScratchDirectory()
        try await expectSuccess(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-subj", "/CN=x", "-days", "1",
                "-keyout",
                scratch.file("key.pem"), "-out", scratch.file("bad.pem"), "-addext",
                "crlDistributionPoints=URI:no scheme",
            ])
        let result = try await Command.run(
            try Command.python("lint_pkix_cert"), ["lint", "-s", "WARNING", "-f", "CSV", scratch.file("bad.pem")],
            seconds: 120)
        #expect(result.status != 0)
    }
}
