import ArgumentParser
import Domain
import Encoding
import Operations
import PhoneNumbers

extension UserCommand {
    struct Find: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Finds users by the provider's own id, a proven number or a shown document.",
            discussion: """
                A look by number or document is written into the audit log and wants --reason. The number itself is written \
                nowhere.
                """)
        @OptionGroup var shared: SharedOptions
        @Option(help: "The id that a provider has for the user.") var externalID: String?
        @Option(help: "With --external-id: that provider only, by its slug or id.") var provider: String?
        @Option(help: "A telephone number in its international form.") var phone: String?
        @Option(help: "A document, JURISDICTION:NUMBER, such as VA:T64235789.") var document: String?
        @Option(help: "Why: a code or a ticket's number, kept in the audit log.") var reason: String?

        func run() async throws {
            guard [externalID, phone, document].count(where: { $0 != nil }) == 1 else {
                throw CommandFailure("Give one of --external-id, --phone and --document.", exitCode: .usage)
            }
            let found = try await search()
            if shared.json { return Output.json(.array(found.map(UserCommand.json))) }
            Output.table([["USER", "ADDRESS", "LEVEL", "FIRST SEEN"]] + found.map(UserCommand.row))
        }

        private func search() async throws -> [UserSummary] {
            if let externalID {
                return try await Admin.run(shared) {
                    try await FindUsers($0.context, keys: $0.personalKeys())(externalID: externalID, of: provider)
                }
            }
            guard let reason else {
                throw CommandFailure(
                    "Say why with --reason: whose number or document it is, is personal.", exitCode: .usage)
            }
            let why = try auditReason(reason)
            let trait = try trait()
            return try await Admin.run(shared) {
                try await FindUsers($0.context, keys: $0.personalKeys())(trait, reason: why)
            }
        }

        private func trait() throws -> FindUsers.Trait {
            try BanCommand.asUsage {
                if let phone { return .phone(try PhoneNumber(fromCaller: phone)) }
                guard case .document(let name) = try BanTarget.document(reading: document ?? "") else {
                    throw Refusal(.malformedRequest, "A document is JURISDICTION:NUMBER, such as VA:T64235789.")
                }
                return .document(name)
            }
        }
    }
}
