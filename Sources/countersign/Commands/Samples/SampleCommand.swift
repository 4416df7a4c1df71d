import ArgumentParser
import Cards
import Domain
import Encoding
import Foundation

struct SampleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sample", abstract: "Print samples for developers.",
        subcommands: [Card.self, SampleWalletCommand.self])

    struct Card: ReportingCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the barcode text of an invented driver's licence that is valid today.",
            discussion: """
                The text is as a scanner reads it, with its control characters. Each call has another document number \
                and birthday. With --json, aamva is the value for POST /identity-cards.
                """,
            example: "sample card --state CA --name \"ADA SAMPLE\"")
        @OptionGroup var shared: SharedOptions
        @Option(help: "The two letters of the state or province that issues the card.") var state = "VA"
        @Option(help: "The holder: given name, middle names, family name; or one name.") var name = "JANE SAMPLE"

        func report() async throws -> Report {
            guard let jurisdiction = Jurisdiction.of(code: state.uppercased()) else {
                throw CommandFailure(
                    "--state must be the two letters of a state or province that issues AAMVA cards.", exitCode: .usage)
            }
            guard let holder = SpecimenCard.Name(name) else {
                throw SpecimenCard.Name.unreadable("one")
            }
            let card = SpecimenCard(of: jurisdiction, holder, now: Date())
            var report = Report([
                .json("aamva", Base64URL.encode(Array(card.barcode.utf8))), .json("barcode", card.barcode),
                .json("document_number", card.number), .json("state", jurisdiction.code),
                .json("name", holder.text), .json("date_of_birth", card.birth.text),
                .json("expires_on", card.expiry.text),
            ])
            report.text = card.barcode
            return report
        }
    }
}
