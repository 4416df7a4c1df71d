import ArgumentParser
import Authority
import Domain
import Encoding
import Foundation
import Operations
import Repositories

extension DeviceCommand {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows a device with its certificates and its open sessions.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "Its id.") var device: String

        func run() async throws {
            let id: DeviceID = try identifier(device, "device")
            let clocks = try SessionCommand.clocks(shared)
            let found = try await Admin.run(shared) { try await ReadDevice($0.context)(id) }
            let summary = found.summary
            if shared.json {
                return Output.json(
                    .object(
                        DeviceCommand.members(of: summary) + [
                            JSONMember(name: "presence_key", value: .bool(found.hasPresenceKey)),
                            JSONMember(
                                name: "certificates", value: .array(found.certificates.map(CertificateCommand.json))),
                            JSONMember(
                                name: "sessions",
                                value: .array(found.sessions.map { SessionCommand.json($0, clocks) })),
                        ]))
            }
            Output.table([
                ["device", summary.id.description], ["certified", summary.createdAt.rfc3339],
                ["user agent", summary.userAgent ?? "-"], ["presence key", found.hasPresenceKey ? "yes" : "no"],
                ["valid certificates", String(summary.certificates)], ["open sessions", String(summary.sessions)],
            ])
            Output.table(
                [["SERIAL", "ISSUED", "EXPIRES", "STATE"]]
                    + found.certificates.map {
                        [$0.serial, $0.issuedAt.rfc3339, $0.notAfter.rfc3339, $0.revoked?.reason ?? "valid"]
                    })
            Output.table(
                [["SESSION", "USER", "LAST USED", "STATE"]]
                    + found.sessions.map {
                        [
                            $0.id.description, $0.userID.description, $0.lastUsedAt.rfc3339,
                            SessionCommand.effectiveState($0, clocks),
                        ]
                    })
        }
    }

    static func members(of device: DeviceRepository.Summary) -> [JSONMember] {
        [
            JSONMember(name: "device_id", value: .string(device.id.description)),
            JSONMember(name: "certified_at", value: .string(device.createdAt.rfc3339)),
            JSONMember(name: "user_agent", value: device.userAgent.map { .string($0) } ?? .null),
            JSONMember(name: "valid_certificates", value: .integer(Int64(device.certificates))),
            JSONMember(name: "open_sessions", value: .integer(Int64(device.sessions))),
        ]
    }
}
