import ArgumentParser
import Cards
import Encoding
import Foundation

/// `countersign sample wallet …`: an invented issuer and wallet for development.
struct SampleWalletCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wallet", abstract: "Make an invented issuer, and answers of an invented wallet.",
        subcommands: [Issuer.self, Answer.self])

    struct Issuer: InstallationCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an invented issuer that this service trusts, and a certificate for wallets.",
            discussion: """
                It is for development: a person with the files can make documents of anybody. The service reads them at \
                its start, if wallet.yaml has enabled: true. No file is replaced.
                """,
            example: "sample wallet issuer --keys Keys")
        @OptionGroup var shared: SharedOptions

        func report(on installation: Installation) async throws -> Report {
            let files = try SampleIssuer.create(in: installation.settings.keys, now: Date())
            return Report(
                zip(files, SampleIssuer.meanings).map { "\($0): \($1)" }, json: [.json("files", files)]
            ).noting("Set enabled: true in wallet.yaml, then start the service again.")
        }
    }

    struct Answer: InstallationCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the answer of an invented wallet to a request by org-iso-mdoc.",
            discussion: """
                FILE is what POST /identity-cards/presentations answered. The output is the body for \
                POST /identity-cards/presentations/{id}. Each call has another person.
                """,
            example: "sample wallet answer opened.json --origin https://app.example")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The file with the request.") var file: String
        @Option(help: "The registered origin of the request.") var origin: String
        @Option(help: "The holder: given name, middle names, family name.") var name = "JANE SAMPLE"

        func report(on installation: Installation) async throws -> Report {
            guard let holder = SpecimenCard.Name(name), holder.given != nil, let virginia = Jurisdiction.of(code: "VA")
            else {
                throw SpecimenCard.Name.unreadable("two")
            }
            guard let data = FileManager.default.contents(atPath: file), let opened = try? StrictJSON.parse(data) else {
                throw CommandFailure("\(file) cannot be read, or is not JSON.")
            }
            let now = Date()
            let licence = try SampleLicence(
                answering: opened, from: origin, issuer: SampleIssuer(in: installation.settings.keys),
                card: SpecimenCard(of: virginia, holder, now: now), now: now)
            let answer = try licence.answer()
            var report = Report(json: answer)
            report.text = answer.jsonText
            return report
        }
    }
}
