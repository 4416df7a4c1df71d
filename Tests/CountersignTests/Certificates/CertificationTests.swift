import Domain
import Encoding
import Fixtures
import Foundation
import Testing

/// Runs a script of `Tests/Interop` and expects it to end well.
@discardableResult
func expectScript(
    _ script: String, _ arguments: [String], seconds: Double = 400, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> String {
    let interpreter = try #require(ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"])
    let path = RunningService.root.appending(path: "Tests/Interop/\(script)").path
    let result = try await Command.run(interpreter, [path] + arguments, seconds: seconds)
    #expect(result.status == 0, "\(result.output)\n\(result.errors.suffix(4000))", sourceLocation: sourceLocation)
    return result.output
}

/// What stands before the authority, and what becomes of its certificates, over real connections.
@Suite("Certification over sockets", .serialized)
struct CertificationTests {
    @Test("renews a certificate of fifteen seconds with the same and with a new key")
    func renewal() async throws {
        let service = try await RunningService(policies: ["certification.yaml": "validity: 15s\n"])
        try await expectScript("Certificates/renewal.py", service.clientArguments)
        // The command line names what was renewed from a certificate, and takes it along.
        func answer(_ arguments: [String]) async throws -> JSONValue {
            let done = try await service.countersign(["certificate"] + arguments + ["--json"])
            #expect(done.status == 0, "\(done.errors)")
            return try StrictJSON.parse(Array(done.output.utf8))
        }
        func list(_ value: JSONValue?) -> [JSONValue] {
            guard case .array(let values)? = value else { return [] }
            return values
        }
        let all = list(try await answer(["list"]))
        let replaced = all.compactMap { $0["replaces"]?.text }
        let renewed = try #require(replaced.first)
        let successors = list(try await answer(["show", renewed])["successors"])
        #expect(successors.map { $0["revoked_at"] } == [.null])
        let revoked = try await answer(["revoke", renewed, "--reason", "keyCompromise"])
        #expect(list(revoked["successors"]).map { $0["revocation_reason"] } == [.string("keyCompromise")])
        let again = try await service.countersign(["certificate", "revoke", renewed])
        #expect(again.status == 1)
    }

    @Test("hands out a long revocation list from memory to many, and refuses nobody beside them meanwhile")
    func revocationFlood() async throws {
        let service = try await RunningService()
        let found = try await expectScript(
            "Certificates/revocations.py",
            service.clientArguments + [
                "--store", service.path("store.db").path, "--revoked", "1000", "--rate", "0", "--requests", "250",
            ], seconds: 400)
        let figures = try StrictJSON.parse(Array(found.utf8))
        #expect(figures["lists"] == .integer(1))
        #expect(figures["served"] == .integer(250))
        #expect(figures["refused"] == .integer(0))
        #expect(figures["others_refused"] == .integer(0))
    }

    @Test("asks a siteverify endpoint: solved is certified, refused is a reason, and everything else is unavailable")
    func captcha() async throws {
        let service = try await RunningService()
        try await expectScript(
            "Certificates/captcha.py",
            service.clientArguments + [
                "--policies", service.path("Policies").path, "--pid", "\(service.processIdentifier)",
            ])
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(log.contains("siteverify: "))
        #expect(!log.contains("correct horse"))
    }

    @Test("behind the provider's gate takes an enrolment token of a registered provider, once")
    func enrolment() async throws {
        let service = try await RunningService(policies: ["certification.yaml": "gate: provider\n"])
        try await expectScript("Certificates/enrolment.py", service.clientArguments)
    }

    @Test("signs with a key that never leaves its hardware module")
    func hardwareKey() async throws {
        let scratch = try ScratchDirectory()
        let (module, pin) = ("/usr/lib/softhsm/libsofthsm2.so", "471108")
        try FileManager.default.createDirectory(atPath: scratch.file("tokens"), withIntermediateDirectories: false)
        let environment = [
            "SOFTHSM2_CONF": try scratch.write(
                "directories.tokendir = \(scratch.file("tokens"))\nlog.level = ERROR\n", "softhsm2.conf")
        ]
        let pinFile = try scratch.write(pin + "\n", "pin")
        for (program, arguments) in [
            (
                "softhsm2-util",
                ["--init-token", "--free", "--label", "countersign", "--pin", pin, "--so-pin", "815815"]
            ),
            (
                "pkcs11-tool",
                [
                    "--module", module, "--token-label", "countersign", "--login", "--pin", pin, "--keypairgen",
                    "--key-type", "EC:prime256v1", "--label", "ca", "--id", "01", "--usage-sign",
                ]
            ),
        ] {
            let made = try await Command.run(program, arguments, environment: environment)
            #expect(made.status == 0, "\(made.errors)")
        }
        let service = try await RunningService(environment: environment) { directory in
            let keys = directory.appending(path: "Keys")
            try FileManager.default.createDirectory(
                at: keys, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let uri = keys.appending(path: "ca.uri")
            try "pkcs11:token=countersign;object=ca;type=private?module-path=\(module)&pin-source=file:\(pinFile)\n"
                .write(to: uri, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: uri.path)
        }
        #expect(!FileManager.default.fileExists(atPath: service.path("Keys/ca.key").path))
        let leaf = scratch.file("leaf.pem")
        let list = scratch.file("list.pem")
        try await expectScript("Certificates/certify.py", service.clientArguments + ["--leaf", leaf, "--list", list])
        let judged = try await Command.run(
            "openssl",
            [
                "verify", "-x509_strict", "-crl_check", "-purpose", "sslclient", "-CAfile",
                service.path("Keys/ca.pem").path, "-CRLfile", list, leaf,
            ])
        #expect(judged.status == 0, "\(judged.output)\(judged.errors)")
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains(pin))
    }
}
