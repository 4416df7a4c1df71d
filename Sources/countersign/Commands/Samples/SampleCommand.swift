import ArgumentParser
import Cards
import Domain
import Encoding
import Foundation

/// `countersign sample …`: things to try the service with.
struct SampleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sample", abstract: "Prints what developers try the service with.", subcommands: [Card.self])

    struct Card: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the barcode text of an invented driver's licence that is valid today.",
            discussion: """
                The text is as a scanner reads it, with its control characters. Each call has another document number and birthday. \
                With --json, aamva is what POST /identity-cards takes.
                """)
        @OptionGroup var shared: SharedOptions
        @Option(help: "The state or province that issues it, by its two letters.") var state = "VA"
        @Option(help: "The holder: given name, middle names, family name.") var name = "JANE SAMPLE"

        func run() async throws {
            guard let jurisdiction = Jurisdiction.of(code: state.uppercased()) else {
                throw CommandFailure(
                    "--state takes the two letters of a state or province that issues AAMVA cards.", exitCode: .usage)
            }
            guard let holder = SpecimenCard.Name(name) else {
                throw CommandFailure(
                    "--name takes two names or more of letters, hyphens and apostrophes, 40 characters at most each.",
                    exitCode: .usage)
            }
            let card = SpecimenCard(of: jurisdiction, holder, now: Date())
            guard shared.json else { return Output.own(card.barcode) }
            Output.json(
                .object([
                    "aamva": .string(Base64URL.encode(Array(card.barcode.utf8))), "barcode": .string(card.barcode),
                    "document_number": .string(card.number), "state": .string(jurisdiction.code),
                    "name": .string(holder.text), "date_of_birth": .string(card.birth.text),
                    "expires_on": .string(card.expiry.text),
                ]))
        }
    }
}
