import ArgumentParser
import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Maintain the service's own keys.", subcommands: [Init.self, Rotate.self])

    struct Init: InstallationCommand {
        static let configuration = CommandConfiguration(
            commandName: "init", abstract: "Create missing keys and certificates.",
            example: "keys init --host auth.example --host 192.0.2.7")

        /// The hosts of a development service.
        static let defaultHosts = ["localhost", "127.0.0.1", "::1"]

        @OptionGroup var shared: SharedOptions

        @Option(
            name: .customLong("host"),
            help:
                "A DNS name or IP address for the server's certificate; may be repeated (default localhost, 127.0.0.1, ::1)."
        )
        var hosts: [String] = []

        func report(on installation: Installation) async throws -> Report {
            let directory = installation.settings.keys
            var creation = KeyCreation(
                directory: directory, hosts: hosts.isEmpty ? Self.defaultHosts : hosts, now: Date(),
                randomBytes: Self.randomBytes)
            let outcomes = try creation.run()
            let certificate = KeyFiles.path(.serverCertificate, directory)
            let keepsHosts = !hosts.isEmpty && outcomes.contains(.init(path: certificate, isNew: false))
            return Report(
                Report([
                    .json("keys", directory), .json("made", outcomes.filter(\.isNew).map(\.path)),
                    .json("kept", outcomes.filter { !$0.isNew }.map(\.path)),
                ]).json, tables: [outcomes.map { [$0.isNew ? "made" : "kept", $0.path] }]
            ).noting(
                Self.expiry(of: certificate, in: directory, now: Date())
                    ?? (keepsHosts ? "\(certificate) exists and keeps its hosts; remove it first for others." : nil))
        }

        /// The note about a kept certificate that has expired or expires within a month; `nil` for any other.
        static func expiry(of path: String, in directory: String, now: Date) -> String? {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8),
                let first = try? PEMDocument.parseMultiple(pemString: text).first,
                let certificate = try? Certificate(pemDocument: first),
                certificate.notValidAfter < now.addingTimeInterval(30 * 86_400)
            else { return nil }
            let verb = certificate.notValidAfter < now ? "expired" : "expires"
            return "\(path) \(verb) at \(certificate.notValidAfter.rfc3339): \(KeyFiles.renewServer(directory))."
        }

        private static func randomBytes(_ count: Int) -> [UInt8] {
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
    }
}
