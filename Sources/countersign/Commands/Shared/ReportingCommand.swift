import ArgumentParser

/// A command that reports a result. This is the one place that prints results and reads `--json`.
protocol ReportingCommand: AsyncParsableCommand {
    var shared: SharedOptions { get }

    /// Does the command's work and describes its result.
    func report() async throws -> Report
}

extension ReportingCommand {
    func run() async throws {
        let report = try await report()
        show(report)
        if let failure = report.failure { throw failure }
    }

    /// Shows a report before the command ends, such as each entry that it follows.
    func show(_ report: Report) { Output.show(report, asJSON: shared.json) }

    func note(_ text: String) { Output.note(text) }

    /// Shows complete lines of JSON, such as those of an export.
    func show(lines: [UInt8]) throws { try Output.lines(lines) }
}

/// A command of an installation, whose settings are resolved once.
protocol InstallationCommand: ReportingCommand {
    func report(on installation: Installation) async throws -> Report
}

extension InstallationCommand {
    func report() async throws -> Report { try await report(on: Installation(shared)) }
}

/// A command on an existing store, which is open meanwhile.
protocol AdminCommand: ReportingCommand {
    /// ``ReportingCommand/report()`` with the open store.
    func report(_ admin: Admin) async throws -> Report
}

extension AdminCommand {
    func report() async throws -> Report { try await Installation(shared).admin { try await report($0) } }
}

/// The note that nothing was changed; `nil` if this is not a preview.
///
/// - Parameters:
///   - isPreview: `--dry-run`.
///   - effect: what would happen, such as `this session would end`, if the report does not say so.
func previewNote(_ isPreview: Bool, _ effect: String? = nil) -> String? {
    guard isPreview else { return nil }
    return effect.map { "Nothing was changed: \($0)." } ?? "Nothing was changed."
}
