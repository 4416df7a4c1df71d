import ArgumentParser
import Domain
import Encoding
import Foundation

struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Check the policies.", subcommands: [Check.self])

    struct Check: InstallationCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Report every defect of the policies, or the values in force.",
            example: "policy check --policies Policies")

        @OptionGroup var shared: SharedOptions

        func report(on installation: Installation) async throws -> Report {
            let settings = installation.settings
            let reading = PolicyFiles.read(directory: settings.policies, required: settings.policiesNamed)
            let faults = reading.defects.map(\.description)
            let isMissing = !settings.policiesNamed && !FileManager.default.fileExists(atPath: settings.policies)
            var report = Report(
                Report([
                    .json("valid", faults.isEmpty), .json("errors", faults),
                    .json("policy", faults.isEmpty ? Self.values(reading.policy) : nil),
                ]).json, tables: faults.isEmpty ? [Self.table(reading)] : []
            ).noting(isMissing ? "There is no directory \(settings.policies): all values are defaults." : nil)
            if !faults.isEmpty { report.failure = CommandFailure(faults.joined(separator: "\n")) }
            return report
        }

        /// A JSON object of the form `{area: {key: value}}`.
        private static func values(_ policy: Policy) -> Report {
            Report(
                PolicyArea.all.map { area in
                    .json(area.name, Report(area.fields.map { .json($0.key, ReportCell($0.value(policy), nil)) }))
                })
        }

        private static func table(_ reading: PolicyFiles.Reading) -> [[String]] {
            [["FILE", "KEY", "VALUE", "FROM"]]
                + PolicyArea.all.flatMap { area in
                    area.fields.map { field in
                        let line = reading.lines["\(area.name)/\(field.key)"]
                        return [
                            area.name + ".yaml", field.key, field.written(reading.policy),
                            line.map { "line \($0)" } ?? "default",
                        ]
                    }
                }
        }
    }
}
