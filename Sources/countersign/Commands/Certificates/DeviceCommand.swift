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
        subcommands: [List.self, Revoke.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the newest devices.")
        @OptionGroup var shared: SharedOptions
        @Option(help: "How many.") var limit = 50
        @Option(help: "Only devices with sessions of this user: the id, or <provider slug>/<external id>.")
        var user: String?

        func run() async throws {
            let devices = try await Admin.run(shared) { try await ListDevices($0.context)(limit: limit, user: user) }
            Output.noteLimit(devices.count, limit)
            if shared.json {
                Output.json(
                    .array(
                        devices.map {
                            .object([
                                "device_id": .string($0.id.description), "certified_at": .string($0.createdAt.rfc3339),
                                "user_agent": $0.userAgent.map { .string($0) } ?? .null,
                                "valid_certificates": .integer(Int64($0.certificates)),
                                "open_sessions": .integer(Int64($0.sessions)),
                            ])
                        }))
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
            abstract: "Revokes every certificate of a device: its sessions end, its connections close.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var device: String
        @Option(help: "keyCompromise, cessationOfOperation, affiliationChanged, …") var reason = "keyCompromise"

        func run() async throws {
            let id: DeviceID = try identifier(device, "device")
            guard let reason = RevocationReason(rawValue: reason) else {
                let words = RevocationReason.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure("--reason is one of \(words).", exitCode: .usage)
            }
            let (revoked, isListed) = try await Admin.run(shared) { admin in
                (try await RevokeDevice(admin.context)(id, reason: reason), await admin.publishRevocations())
            }
            if !isListed {
                Output.note(
                    "The revocation list is rebuilt when it is next fetched: the authority's key is not available here."
                )
            }
            if shared.json {
                Output.json(
                    .object([
                        "device_id": .string(id.description), "revoked": .array(revoked.serials.map { .string($0) }),
                        "sessions_ended": revoked.sessionsEnded.json, "crl_rebuilt": .bool(isListed),
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
