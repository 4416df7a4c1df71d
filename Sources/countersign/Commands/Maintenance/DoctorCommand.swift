import ArgumentParser
import Encoding
import Foundation

/// `countersign doctor`: what is wrong with an installation, one line each with its mend.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Looks for what is wrong with an installation; exit code 1 if there is anything.",
        discussion: """
            It looks at settings, policies, keys, certificates, store and nodes as a start of the service would, and at what \
            ends soon. Give it what serve gets. It changes nothing, and says nothing of a sound installation.
            """)
    @OptionGroup var shared: SharedOptions
    @OptionGroup var serve: ServeOptions
    @Option(help: "How old the last `store backup` may be, such as 7d; off if backups are made by other means.")
    var backups = "7d"

    func run() async throws {
        var examination = Examination(shared: shared, serve: serve)
        if backups == "off" {
            examination.backupAge = nil
        } else {
            guard let age = PolicyField.seconds(backups), age > 0 else {
                throw CommandFailure("--backups takes a time such as 7d, or off.", exitCode: .usage)
            }
            examination.backupAge = age
        }
        let found = await examination()
        if shared.json {
            Output.json(.object(["sound": .bool(found.isEmpty), "findings": .array(found.map(\.json))]))
        } else {
            for finding in found { Output.table([[finding.line]]) }
        }
        if !found.isEmpty { throw ExitCode(CommandFailure.Status.refused.rawValue) }
    }
}
