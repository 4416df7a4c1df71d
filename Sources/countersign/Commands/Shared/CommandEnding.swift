import ArgumentParser
import Authority
import Database
import Domain
import Foundation
import Repositories

/// How the process ends after an error: its output and its exit code.
struct CommandEnding: Equatable {
    /// 0 if the "error" is a request for help or the version.
    let status: Int32
    let output: String
    let stderr: String

    /// - Parameter arguments: the command line without the program's name, to see which command was mistyped.
    init(_ error: any Error, arguments: [String] = []) {
        switch error {
        case let failure as CommandFailure: self.init(failure.exitCode, failure.sentence)
        case let error as StoreError:
            switch error {
            case .notUsable(.unfinished):
                self.init(.refused, Self.sentence("\(error) with `countersign store copy --final`"))
            case .unavailable, .outcomeUnknown: self.init(.storeUnavailable, Self.sentence(error.description))
            default: self.init(.refused, Self.sentence(error.description))
            }
        case let error as AuthorityError: self.init(.refused, error.description)
        case let refusal as Refusal: self.init(.refused, refusal.commandWording)
        default: self.init(parser: error, arguments)
        }
    }

    /// Help, usage errors and explicit exit codes come from ArgumentParser. Any other error is an internal one, of
    /// which only the words of its case may safely be shown.
    private init(parser error: any Error, _ arguments: [String]) {
        let code = Countersign.exitCode(for: error)
        let message = HelpPage.fitted(Countersign.fullMessage(for: error), width: Terminal.helpWidth)
        let text = message.isEmpty ? "" : message + "\n"
        if code == .success {
            self.init(status: 0, output: text, stderr: "")
        } else if code == .validationFailure {
            // The parser names the words that it could not place, not the command that was probably meant.
            let usage = message.drop { $0 != "\n" }
            let stderr = UnknownCommand.sentence(arguments).map { "Error: \($0)\(usage)\n" } ?? text
            self.init(status: CommandFailure.Status.usage.rawValue, output: "", stderr: stderr)
        } else if error is ExitCode {
            self.init(status: code.rawValue, output: "", stderr: "")
        } else if error is SealingFailure {
            self.init(.refused, "Personal data cannot be opened with these keys: give those of the store (--keys).")
        } else if let error = error as? CocoaError {
            self.init(.refused, error.localizedDescription)
        } else {
            self.init(.refused, "internal error: \(ErrorWords.of(error))")
        }
    }

    private init(_ status: CommandFailure.Status, _ sentence: String) {
        self.init(status: status.rawValue, output: "", stderr: "countersign: " + sentence + "\n")
    }

    private init(status: Int32, output: String, stderr: String) {
        self.status = status
        self.output = output
        self.stderr = stderr
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }
}

extension Refusal {
    /// The sentence for an operator, with the flag that it is about.
    var commandWording: String {
        switch subject {
        case .account: "--account: \(detail)"
        case .audience: "--audience: \(detail)"
        case .name: "--name: \(detail)"
        case .note: "--note: \(detail)"
        case .party: "--party: \(detail)"
        case .reason: "--reason: \(detail)"
        case .slug: "\(detail) Name \(code == .conflict ? "another" : "one") with --slug."
        case .parties: "\(detail) Allow that with --any-party."
        case .cursor: "\(detail) Start again without --cursor."
        default: detail
        }
    }
}
