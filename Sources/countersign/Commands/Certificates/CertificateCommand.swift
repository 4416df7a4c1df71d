import ArgumentParser
import Authority
import Domain
import Encoding
import Foundation
import Operations

/// `countersign certificate …`: the certificates of the internal authority.
struct CertificateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate", abstract: "Shows and revokes device certificates.",
        subcommands: [List.self, Show.self, Revoke.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the newest certificates.")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions

        func run() async throws {
            let certificates = try await Admin.run(shared) {
                try await ListCertificates($0.context)(limit: page.limit, after: page.cursor)
            }
            page.noteRest(certificates.count, last: certificates.last?.serial)
            if shared.json {
                Output.json(.array(certificates.map(CertificateCommand.json)))
            } else {
                Output.table(
                    [["SERIAL", "DEVICE", "ISSUED", "EXPIRES", "STATE"]]
                        + certificates.map {
                            [
                                $0.serial, $0.deviceID.description, $0.issuedAt.rfc3339, $0.notAfter.rfc3339,
                                $0.revoked?.reason ?? "valid",
                            ]
                        })
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a certificate.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its serial number, hexadecimal.") var serial: String

        func run() async throws {
            try await CertificateCommand.show(
                Admin.run(shared) { try await ReadCertificate($0.context)(serial: serial) }, json: shared.json)
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revokes a certificate: its device must certify again, its sessions end.",
            discussion: """
                With --reason keyCompromise a superseded certificate can be named too. All certificates with its key, and
                all that were renewed from it, are revoked with it. It asks first if more than one session of the device \
                ends. Scripts give --yes.
                """)
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its serial number, hexadecimal.") var serial: String
        @Option(help: "keyCompromise, cessationOfOperation, affiliationChanged, …") var reason = "keyCompromise"
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @Flag(help: "Do not ask.") var yes = false

        func run() async throws {
            guard let reason = RevocationReason(rawValue: reason) else {
                let words = RevocationReason.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure("--reason is one of \(words).", exitCode: .usage)
            }
            let shown = try await Admin.run(shared) { admin in
                let read = ReadCertificate(admin.context)
                let found = try await read(serial: serial).certificate
                if dryRun { return try await read(serial: serial) }
                if !yes {
                    let ended = try await RevokeDevice(admin.context).preview(found.deviceID).sessionsEnded
                    if ended.count > 1 {
                        try Confirmation.ask("end up to \(ended.text) sessions on device \(found.deviceID)")
                    }
                }
                try await RevokeDeviceCertificate(admin.context)(serial: found.serial, reason: reason)
                return try await read(serial: serial)
            }
            CertificateCommand.show(shown, json: shared.json)
            if dryRun { Output.note("Nothing was changed: this certificate would be revoked.") }
        }
    }

    static func show(_ shown: (certificate: DeviceCertificate, successors: [DeviceCertificate]), json: Bool) {
        let certificate = shown.certificate
        if json {
            guard case .object(let members) = self.json(certificate) else { return }
            let successors = JSONMember(name: "successors", value: .array(shown.successors.map(self.json)))
            return Output.json(.object(members + [successors]))
        }
        Output.table([
            ["serial", certificate.serial], ["device", certificate.deviceID.description],
            ["issued", certificate.issuedAt.rfc3339], ["not before", certificate.notBefore.rfc3339],
            ["not after", certificate.notAfter.rfc3339], ["x5t#S256", certificate.thumbprint.base64URL],
            ["state", state(certificate)], ["replaces", certificate.replaces ?? "-"],
            [
                "successors",
                shown.successors.isEmpty
                    ? "-" : shown.successors.map { "\($0.serial) (\(state($0)))" }.joined(separator: ", "),
            ],
        ])
    }

    private static func state(_ certificate: DeviceCertificate) -> String {
        certificate.revoked.map { "\($0.reason) at \($0.at.rfc3339)" } ?? "valid"
    }

    static func json(_ certificate: DeviceCertificate) -> JSONValue {
        .object([
            "serial": .string(certificate.serial), "device_id": .string(certificate.deviceID.description),
            "issued_at": .string(certificate.issuedAt.rfc3339), "not_before": .string(certificate.notBefore.rfc3339),
            "not_after": .string(certificate.notAfter.rfc3339),
            "x5t#S256": .string(certificate.thumbprint.base64URL),
            "replaces": certificate.replaces.map { .string($0) } ?? .null,
            "revoked_at": certificate.revoked.map { .string($0.at.rfc3339) } ?? .null,
            "revocation_reason": certificate.revoked.map { .string($0.reason) } ?? .null,
        ])
    }
}
