import ArgumentParser
import Authority
import Domain
import Encoding
import Foundation
import Operations
import Repositories

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Show devices and revoke all their certificates.",
        subcommands: [List.self, Show.self, Revoke.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the newest devices.",
            example: "device list --user acme/ada")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions
        @Option(help: "A user with sessions on the devices: the id, or <provider slug>/<external id>.")
        var user: String?
        @Option(help: "Only devices with this attestation.") var attestation: DeviceAttestation.Level?

        func report(_ admin: Admin) async throws -> Report {
            page.report(
                try await admin.administration.listDevices(
                    limit: page.limit, after: page.cursor, user: user, attestation: attestation),
                DeviceCommand.fields)
        }
    }

    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a device with its certificates and its open sessions.",
            example: "device show c05e81d7")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The device's id or its beginning.") var device: TypedID<Kind.Device>

        func report(_ admin: Admin) async throws -> Report {
            let lifetimes = try admin.policy().sessions
            let found = try await admin.administration.readDevice(admin.resolve(device))
            var entries = DeviceCommand.fields.map { $0.entry(found.summary) }
            entries.insert(Entry("presence_key", found.summary.hasPresenceKey), at: 3)
            entries.append(.json("bans", found.bans.map(\.id)))
            entries += found.bans.map { ban in
                .people(
                    "banned",
                    "ban \(ban.id), \(ban.reason.rawValue), \(ban.endsAt.map { "until \($0.rfc3339)" } ?? "permanent")")
            }
            return Report(entries)
                .with("certificates", found.certificates, CertificateCommand.fields, leavingOut: ["DEVICE"])
                .with(
                    "sessions", found.sessions, SessionCommand.fields(lifetimes), leavingOut: ["DEVICE", "CREATED"])
        }
    }

    struct Revoke: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke every certificate of a device: its sessions end, its connections close.",
            discussion: "It asks first if more than one session ends. In scripts add --yes.",
            example: "device revoke c05e81d7 --dry-run")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The device's id or its beginning.") var device: TypedID<Kind.Device>
        @Option(help: "The reason of the revocation.") var reason = RevocationReason
            .keyCompromise
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @Flag(help: "Do not ask.") var yes = false

        func report(_ admin: Admin) async throws -> Report {
            let administration = try admin.administration
            let device = try await admin.resolve(device)
            if !dryRun, !yes {
                let ended = try await administration.previewRevocation(of: device).sessionsEnded
                if ended.count > 1 { try Confirmation.ask("end \(ended.sessions) on device \(device)") }
            }
            let revoked =
                try await dryRun
                ? administration.previewRevocation(of: device) : administration.revokeDevice(device, reason: reason)
            let isListed = dryRun ? true : await admin.publishRevocations()
            let serials = ReportCell(revoked.serials.cell.json, String(revoked.serials.count))
            return Report(
                [
                    Entry("device_id", "device", device), Entry("revoked", "certificates revoked", serials),
                    Entry("sessions_ended", revoked.sessionsEnded),
                    .json("more_sessions", revoked.sessionsEnded.isMore), .json("crl_rebuilt", isListed && !dryRun),
                ] + (dryRun ? [.json("dry_run", true)] : [])
            ).noting(previewNote(dryRun)).noting(
                isListed
                    ? nil
                    : "The revocation list is rebuilt when it is next fetched: the authority's key is not available "
                        + "here.")
        }
    }

    private static var fields: [Field<DeviceSummary>] {
        [
            Field("device_id", "device", column: "DEVICE") { $0.id },
            Field("certified_at", "certified", column: "CERTIFIED") { $0.createdAt },
            Field("user_agent") { $0.userAgent },
            Field("device_attestation", "attestation", column: "ATTESTATION") { $0.attestation.rawValue },
            Field("valid_certificates", column: "VALID CERTIFICATES") { $0.certificates },
            Field("open_sessions", column: "OPEN SESSIONS") { $0.sessions },
        ]
    }
}

extension Admin {
    /// Signs a new revocation list of each authority; `false` if an authority's key is not available. The revocation is in
    /// force in both cases, and the service also rebuilds the lists.
    func publishRevocations() async -> Bool {
        do {
            let authorities = try KeyFiles.authorities(in: keysDirectory)
            for authority in [authorities.current] + authorities.others {
                _ = try await PublishRevocationList(
                    store: store(for: .manage), authority: authority, environment: environment)()
            }
            return true
        } catch {
            return false
        }
    }
}
