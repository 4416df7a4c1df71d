import ArgumentParser
import Foundation

/// The service and its administration, one subcommand each.
@main
struct Countersign: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "countersign",
        abstract: "Authenticates devices and their users for providers.",
        discussion: """
            An option that is not given comes from its environment variable, then from countersign.yaml in the working \
            directory. Exit codes: 0 done, 1 refused (the sentence says why), 2 usage, 69 store unavailable.
            """, version: ProgramVersion.text,
        subcommands: [
            ServeCommand.self, KeysCommand.self, PolicyCommand.self, ProviderCommand.self, CertificateCommand.self,
            SessionCommand.self, UserCommand.self, ReviewCommand.self, OutboxCommand.self, TextsCommand.self,
            TourCommand.self,
            AuditCommand.self, DeviceCommand.self, StoreCommand.self, StatusCommand.self,
            BanCommand.self, AdminsCommand.self, InboxCommand.self, SampleCommand.self, DoctorCommand.self,
            WalletCommand.self, IssuerCommand.self,
        ])

    /// Runs the command that the arguments name and ends the process with the contract's exit codes.
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            let command = try CommandLineWords.parse(words)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                var command = command
                try command.run()
            }
        } catch {
            let ending = CommandEnding(error, arguments: words)
            Output.end(ending.output, stderr: ending.stderr)
            Foundation.exit(ending.status)
        }
    }
}
