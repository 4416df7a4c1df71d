import ArgumentParser
import Authority
import Domain
import Encoding
import Foundation
import Operations

/// `countersign certificate …`: the certificates of the internal authority.
struct CertificateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate", abstract: "Show and revoke device certificates.",
        subcommands: [List.self, Show.self, Revoke.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the newest certificates.",
            example: "certificate list --limit 10")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions

        func report(_ admin: Admin) async throws -> Report {
            page.report(
                try await admin.administration.listCertificates(limit: page.limit, after: page.cursor),
                CertificateCommand.fields)
        }
    }

    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a certificate.",
            example: "certificate show 3a9f00c27be1")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The certificate's serial number or its beginning, hexadecimal.") var serial: String

        func report(_ admin: Admin) async throws -> Report {
            CertificateCommand.report(try await admin.administration.readCertificate(serial: serial))
        }
    }

    struct Revoke: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a certificate: its device must certify again, its sessions end.",
            discussion: """
                With --reason keyCompromise a superseded certificate can be named too. All certificates with its key, \
                and all that were renewed from it, are revoked with it. It asks first if more than one session of the \
                device ends. In scripts add --yes.
                """,
            example: "certificate revoke 3a9f00c27be1 --dry-run")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The certificate's serial number or its beginning, hexadecimal.") var serial: String
        @Option(help: "The reason of the revocation.") var reason = RevocationReason
            .keyCompromise
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @Flag(help: "Do not ask.") var yes = false

        func report(_ admin: Admin) async throws -> Report {
            let administration = try admin.administration
            let found = try await administration.readCertificate(serial: serial)
            if dryRun {
                return CertificateCommand.report(found).noting(
                    previewNote(dryRun, "this certificate would be revoked"))
            }
            let device = found.certificate.deviceID
            if !yes {
                let ended = try await administration.previewRevocation(of: device).sessionsEnded
                if ended.count > 1 { try Confirmation.ask("end up to \(ended.sessions) on device \(device)") }
            }
            try await administration.revokeCertificate(serial: found.certificate.serial, reason: reason)
            return CertificateCommand.report(
                try await administration.readCertificate(serial: found.certificate.serial))
        }
    }

    private static func report(
        _ found: (certificate: DeviceCertificate, successors: [DeviceCertificate])
    ) -> Report {
        let successors = ReportCell(
            Report(found.successors, fields).json,
            found.successors.isEmpty
                ? nil : found.successors.map { "\($0.serial) (\(state($0)))" }.joined(separator: ", "))
        return Report(fields.map { $0.entry(found.certificate) } + [Entry("successors", successors)])
    }

    private static func state(_ certificate: DeviceCertificate) -> String {
        certificate.revoked.map { "\($0.reason) at \($0.at.rfc3339)" } ?? "valid"
    }

    static var fields: [Field<DeviceCertificate>] {
        [
            Field("serial", column: "SERIAL") { $0.serial },
            Field("device_id", "device", column: "DEVICE") { $0.deviceID },
            Field("issued_at", "issued", column: "ISSUED") { $0.issuedAt }, Field("not_before") { $0.notBefore },
            Field("not_after", column: "EXPIRES") { $0.notAfter }, Field("x5t#S256") { $0.thumbprint.base64URL },
            .people("state", state), .people(column: "STATE") { $0.revoked?.reason ?? "valid" },
            Field("replaces") { $0.replaces }, .json("revoked_at") { $0.revoked?.at },
            .json("revocation_reason") { $0.revoked?.reason },
        ]
    }
}
