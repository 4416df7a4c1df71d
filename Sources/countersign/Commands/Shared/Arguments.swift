import ArgumentParser
import Authority
import Domain
import Foundation
import Tokens

/// The reason of a command that does not require one.
struct ReasonOption: ParsableArguments {
    @Option(help: "The reason: a code or a ticket's number, kept in the audit log.") var reason: String?

    /// - Throws: ``CommandFailure`` for a reason that the audit log does not accept.
    func parsed() throws(CommandFailure) -> AuditReason? {
        guard let reason else { return nil }
        return try auditReason(reason)
    }
}

/// The `--yes` of a command that ends something and does not ask, so that scripts give it to every such command.
struct UnaskedOption: ParsableArguments {
    @Flag(help: "Accepted for scripts; this command does not ask.") var yes = false
}

/// Parses a reason that an admin typed.
func auditReason(_ text: String, _ option: String = "--reason") throws(CommandFailure) -> AuditReason {
    guard let reason = AuditReason(text) else {
        throw CommandFailure(
            "\(option) must be a code or a ticket's number such as user_request or ticket:4711, without spaces and "
                + "personal data: the audit log keeps it for years.", exitCode: .usage)
    }
    return reason
}

/// An id is typed whole or as its unique beginning, in every command: ``Admin/resolve(_:)`` finds it. The parser does not
/// accept an `Identifier` itself, so that a new command cannot forget this.
extension TypedID: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension AccessTokenAlgorithm: ExpressibleByArgument {}
extension DeviceAttestation.Level: ExpressibleByArgument {}
extension Ban.Scope: ExpressibleByArgument {}
extension OutboxMessage.State: ExpressibleByArgument {}
extension RevocationReason: ExpressibleByArgument {}
extension SignatureAlgorithm: ExpressibleByArgument {}

/// Parses a moment that an admin typed: a duration before now, or a day or moment.
func moment(_ text: String, _ option: String, now: Date) throws(CommandFailure) -> Date {
    if let seconds = PolicyField.seconds(text) { return now.addingTimeInterval(-seconds) }
    guard let moment = CalendarDate(text)?.start ?? (try? Date(text, strategy: .iso8601)) else {
        throw CommandFailure(
            "\(option) must be a time with its unit such as 24h, or a day or moment in UTC such as "
                + "2026-01-31T23:59:59Z.", exitCode: .usage)
    }
    return moment
}

/// Parses a moment after now that an admin typed.
func futureMoment(_ text: String, _ option: String, now: Date) throws(CommandFailure) -> Date {
    guard let moment = CalendarDate(text)?.start ?? (try? Date(text, strategy: .iso8601)) else {
        throw CommandFailure("\(option) must be a time such as 2027-01-31T12:00:00Z.", exitCode: .usage)
    }
    guard moment > now else { throw CommandFailure("\(option) is in the past.", exitCode: .usage) }
    return moment
}

/// Turns refusals of malformed arguments into usage errors, with their exit code.
func asUsage<Value>(_ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch {
        throw usage(error)
    }
}

/// Does for an operation on the store what ``asUsage(_:)`` does.
func withUsageErrors<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch {
        throw usage(error)
    }
}

private func usage(_ error: any Error) -> any Error {
    guard let refusal = error as? Refusal, refusal.code == .malformedRequest else { return error }
    return CommandFailure(refusal.commandWording, exitCode: .usage)
}
