import ArgumentParser
import Encoding
import Foundation

/// `countersign doctor`: the problems of an installation, one line each with its remedy.
struct DoctorCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look for problems of an installation; exit code 1 if there is one.",
        discussion: """
            It checks settings, policies, keys, certificates, store and nodes as a start of the service would, and \
            what expires soon. Give it the options of serve. It changes nothing, and prints nothing for a sound \
            installation.
            """)
    @OptionGroup var shared: SharedOptions
    @OptionGroup var serve: ServeOptions
    @Option(help: "Maximum age of the last `store backup`, such as 7d; off if backups are made by other means.")
    var backups = "7d"

    func report() async throws -> Report {
        var examination = Examination(shared: shared, serve: serve)
        if backups == "off" {
            examination.backupAge = nil
        } else {
            guard let age = PolicyField.seconds(backups), age > 0 else {
                throw CommandFailure("--backups must be a time such as 7d, or off.", exitCode: .usage)
            }
            examination.backupAge = age
        }
        let found = await examination()
        let findings = Report(
            found, [.json("check") { $0.check.rawValue }, .json("what") { $0.what }, .json("mend") { $0.mend }])
        var report = Report(
            found.map(\.line), json: [.json("sound", found.isEmpty), .json("findings", findings)])
        if !found.isEmpty { report.failure = ExitCode(CommandFailure.Status.refused.rawValue) }
        return report
    }
}
