import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

struct WalletCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wallet", abstract: "Examine what wallets present.", subcommands: [Verify.self])

    struct Verify: InstallationCommand {
        static let configuration = CommandConfiguration(
            abstract: "Verify the captured answer of a wallet and explain each reason to refuse it.",
            discussion: """
                The file is one JSON object. It has the signed request, or names it by origin, or by client_id and \
                response_uri, and by nonce and query. It has key (a private JWK) or key_thumbprint, and the answer as \
                response (also the form that a wallet posts), vp_token or device_response. The page on administration has \
                an example. Exit code 1 if the answer is refused.
                """,
            example: "wallet verify answer.json")

        @OptionGroup var shared: SharedOptions
        @Argument(help: "The JSON file with the answer and its request.") var file: String
        @Option(help: "The directory of trusted issuers' certificates (*.pem; default issuers in --keys).")
        var issuers: String?
        @Option(help: "A status list as fetched, URI=FILE. It can be repeated.") var statusList: [String] = []
        @Option(help: "What a missing status means: required, if_present or off.") var status = "if_present"
        @Option(help: "The time of the verification, such as 2026-01-31T12:00:00Z; by default now.") var at: String?

        func report(on installation: Installation) async throws -> Report {
            // Options first: a mistyped one is reported whatever the files contain.
            let (requirement, now, lists) = (try self.requirement(), try time(), try self.lists())
            let capture = try WalletCapture(path: file)
            let verifier = PresentationVerifier(
                trust: try IssuerFiles.trust(in: issuers ?? "\(installation.settings.keys)/\(IssuerFiles.name)"),
                status: requirement, lists: lists)
            let results: [(rule: String, defect: PresentationDefect?)]
            do throws(PresentationDefect) {
                results = try verifier.results(capture.answer, to: capture.request, now: now)
            } catch {
                results = [("form", error)]
            }
            let refusal = results.compactMap { $0.defect }.first
            var report = Report([
                Entry("accepted", refusal == nil), Entry("reason", refusal?.reason.rawValue, none: nil),
            ]).with(
                "rules", results,
                [
                    Field("rule", column: "RULE") { $0.rule },
                    Field("reason", column: "REASON", none: "passed") { $0.defect?.reason.rawValue },
                    Field("detail", column: "DETAIL", none: "") { $0.defect?.detail },
                ])
            if refusal != nil { report.failure = ExitCode(CommandFailure.Status.refused.rawValue) }
            return report
        }

        private func requirement() throws(CommandFailure) -> StatusRequirement {
            guard let requirement = StatusRequirement(rawValue: status) else {
                let names = StatusRequirement.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure("--status must be one of \(names).", exitCode: .usage)
            }
            return requirement
        }

        private func time() throws(CommandFailure) -> Date {
            guard let at else { return Date() }
            guard let time = Date(rfc3339: at) else {
                throw CommandFailure("--at must be a UTC time such as 2026-01-31T12:00:00Z.", exitCode: .usage)
            }
            return time
        }

        private func lists() throws(CommandFailure) -> [PresentationVerifier.FetchedList] {
            var lists: [PresentationVerifier.FetchedList] = []
            for text in statusList {
                guard let sign = text.lastIndex(of: "=") else {
                    throw CommandFailure("--status-list must be URI=FILE.", exitCode: .usage)
                }
                let path = String(text[text.index(after: sign)...])
                guard let data = FileManager.default.contents(atPath: path) else {
                    throw CommandFailure("\(path) cannot be read.")
                }
                lists.append(PresentationVerifier.FetchedList(uri: String(text[..<sign]), bytes: Array(data)))
            }
            return lists
        }
    }
}
