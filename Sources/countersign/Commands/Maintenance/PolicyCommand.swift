import ArgumentParser
import Domain
import Encoding
import Foundation

/// `countersign policy`.
struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Checks the policies.", subcommands: [Check.self])

    /// `countersign policy check`.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Reports every defect of the policies, or the values in force.")

        @OptionGroup var options: SharedOptions

        mutating func run() async throws {
            let settings = try Settings.resolve(shared: options)
            let reading = PolicyFiles.read(directory: settings.policies, required: settings.policiesNamed)
            let faults = reading.defects.map(\.description)
            if !settings.policiesNamed, !FileManager.default.fileExists(atPath: settings.policies) {
                Output.note("There is no directory \(settings.policies): all values are defaults.")
            }
            if options.json {
                Output.json(Self.report(reading.policy, faults: faults))
            } else if faults.isEmpty {
                Output.table(Self.rows(reading))
            }
            guard faults.isEmpty else {
                throw CommandFailure(faults.joined(separator: "\n"))
            }
        }

        /// `{"valid", "errors", "policy": {area: {key: value}}}`; the policy only if it is valid.
        static func report(_ policy: Policy, faults: [String]) -> JSONValue {
            let values = PolicyArea.all.map { area in
                JSONMember(
                    name: area.name,
                    value: .object(area.fields.map { JSONMember(name: $0.key, value: $0.value(policy)) }))
            }
            return .object([
                "valid": .bool(faults.isEmpty),
                "errors": .array(faults.map { .string($0) }),
                "policy": faults.isEmpty ? .object(values) : .null,
            ])
        }

        private static func rows(_ reading: PolicyFiles.Reading) -> [[String]] {
            [["FILE", "KEY", "VALUE", "FROM"]]
                + PolicyArea.all.flatMap { area in
                    area.fields.map { field in
                        let line = reading.lines["\(area.name)/\(field.key)"]
                        return [
                            area.name + ".yaml", field.key, field.value(reading.policy).jsonText,
                            line.map { "line \($0)" } ?? "default",
                        ]
                    }
                }
        }
    }
}
