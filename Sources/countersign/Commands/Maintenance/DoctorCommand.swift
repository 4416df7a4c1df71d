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
            what expires soon. Give it the options of serve. It changes nothing.
            """,
        example: "doctor --realm auth.example --backups 7d")
    @OptionGroup var shared: SharedOptions
    @OptionGroup var serve: ServeOptions
    @Option(help: "Maximum age of the last `store backup`, such as 7d; off if backups are made by other means.")
    var backups = "7d"
    @Option(help: "Maximum age of the program's tables, such as 120d; off if no newer release exists.")
    var referenceData = "120d"

    func report() async throws -> Report {
        var examination = Examination(shared: shared, serve: serve)
        examination.backupAge = try Self.age(backups, "--backups", example: "7d")
        examination.referenceAge = try Self.age(referenceData, "--reference-data", example: "120d").map {
            Int(saturating: $0 / 86_400)
        }
        let found = await examination()
        let findings = Report(
            found, [.json("check") { $0.check.rawValue }, .json("what") { $0.what }, .json("mend") { $0.mend }])
        let summary =
            switch found.count {
            case 0: ["Everything was examined and found in order."]
            case 1: [String]()
            default: ["\(found.count) problems, causes before their consequences:"]
            }
        var report = Report(
            summary + found.map(\.line), json: [.json("sound", found.isEmpty), .json("findings", findings)])
        if !found.isEmpty { report.failure = ExitCode(CommandFailure.Status.refused.rawValue) }
        return report
    }

    /// Parses an age in seconds; `nil` for `off`.
    private static func age(_ text: String, _ option: String, example: String) throws(CommandFailure) -> TimeInterval? {
        guard text != "off" else { return nil }
        guard let age = PolicyField.seconds(text), age > 0 else {
            throw CommandFailure("\(option) must be a time with its unit such as \(example), or off.", exitCode: .usage)
        }
        return age
    }
}
