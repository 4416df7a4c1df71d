import ArgumentParser
import Domain
import Encoding
import Foundation

/// `countersign keys`.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Maintains the service's own keys.", subcommands: [Init.self, Rotate.self])

    /// `countersign keys init`.
    struct Init: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init", abstract: "Creates missing keys and certificates.")

        /// The hosts of a development service.
        static let defaultHosts = ["localhost", "127.0.0.1", "::1"]

        @OptionGroup var options: SharedOptions

        @Option(
            name: .customLong("host"),
            help:
                "A DNS name or IP address for the server's certificate; may be repeated (default localhost, 127.0.0.1, ::1)."
        )
        var hosts: [String] = []

        mutating func run() async throws {
            let settings = try Settings.resolve(shared: options)
            var creation = KeyCreation(
                directory: settings.keys, hosts: hosts.isEmpty ? Self.defaultHosts : hosts, now: Date(),
                randomBytes: Self.randomBytes)
            let outcomes = try creation.run()
            let certificate = KeyFiles.path(.serverCertificate, settings.keys)
            if !hosts.isEmpty, outcomes.contains(.init(path: certificate, isNew: false)) {
                Output.note("\(certificate) was there and keeps its hosts; remove it first for others.")
            }
            if options.json {
                Output.json(Self.report(outcomes, directory: settings.keys))
            } else {
                Output.table(outcomes.map { [$0.isNew ? "made" : "kept", $0.path] })
            }
        }

        /// `{"keys": DIR, "made": [FILE], "kept": [FILE]}`.
        static func report(_ outcomes: [KeyCreation.Outcome], directory: String) -> JSONValue {
            .object([
                "keys": .string(directory),
                "made": .array(outcomes.filter(\.isNew).map { .string($0.path) }),
                "kept": .array(outcomes.filter { !$0.isNew }.map { .string($0.path) }),
            ])
        }

        private static func randomBytes(_ count: Int) -> [UInt8] {
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
    }
}
