import ArgumentParser
import Authority
import Domain
import Encoding
import Foundation
import Operations
import Repositories

/// `countersign device …`: devices with certificates.
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Shows devices and revokes all their certificates.",
        subcommands: [List.self, Show.self, Revoke.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the newest devices.")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var page: PageOptions
        @Option(help: "Only devices with sessions of this user: the id, or <provider slug>/<external id>.")
        var user: String?

        func run() async throws {
            let devices = try await Admin.run(shared) {
                try await ListDevices($0.context)(limit: page.limit, after: page.cursor, user: user)
            }
            page.noteRest(devices.count, last: devices.last?.id.description)
            if shared.json {
                Output.json(.array(devices.map { .object(DeviceCommand.members(of: $0)) }))
            } else {
                Output.table(
                    [["DEVICE", "CERTIFIED", "VALID CERTIFICATES", "OPEN SESSIONS"]]
                        + devices.map {
                            [$0.id.description, $0.createdAt.rfc3339, String($0.certificates), String($0.sessions)]
                        })
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revokes every certificate of a device: its sessions end, its connections close.",
            discussion: "It asks first if more than one session ends. Scripts give --yes.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var device: String
        @Option(help: "keyCompromise, cessationOfOperation, affiliationChanged, …") var reason = "keyCompromise"
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @Flag(help: "Do not ask.") var yes = false

        func run() async throws {
            let id: DeviceID = try identifier(device, "device")
            guard let reason = RevocationReason(rawValue: reason) else {
                let words = RevocationReason.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure("--reason is one of \(words).", exitCode: .usage)
            }
            let (revoked, isListed) = try await Admin.run(shared) { admin in
                let revoke = RevokeDevice(admin.context)
                if dryRun || !yes {
                    let foreseen = try await revoke.preview(id)
                    if dryRun { return (foreseen, true) }
                    if foreseen.sessionsEnded.count > 1 {
                        try Confirmation.ask("end \(foreseen.sessionsEnded.text) sessions on device \(id)")
                    }
                }
                return (try await revoke(id, reason: reason), await admin.publishRevocations())
            }
            if dryRun { Output.note("Nothing was changed.") }
            if !isListed {
                Output.note(
                    "The revocation list is rebuilt when it is next fetched: the authority's key is not available here."
                )
            }
            if shared.json {
                Output.json(
                    .object([
                        "device_id": .string(id.description), "revoked": .array(revoked.serials.map { .string($0) }),
                        "sessions_ended": revoked.sessionsEnded.json, "crl_rebuilt": .bool(isListed && !dryRun),
                        "dry_run": dryRun ? .bool(true) : nil,
                    ]))
            } else {
                Output.table([
                    ["device", id.description], ["certificates revoked", String(revoked.serials.count)],
                    ["sessions ended", revoked.sessionsEnded.text],
                ])
            }
        }
    }
}

extension Admin {
    /// Signs a new revocation list; `false` if the authority's key is not available. The revocation is in force in
    /// both cases, and the service rebuilds the list too.
    func publishRevocations() async -> Bool {
        do {
            let key = try KeyFiles.signingKeyOfAuthority(in: keysDirectory)
            let pem = try KeyFiles.file(.authorityCertificate, in: keysDirectory).read()
            let authority = try KeyFiles.authority(pem, key, in: keysDirectory)
            _ = try await PublishRevocationList(store: store, authority: authority, environment: environment)()
            return true
        } catch {
            return false
        }
    }
}
