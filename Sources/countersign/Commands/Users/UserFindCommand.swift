import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations
import PhoneNumbers

extension UserCommand {
    struct Find: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Find users by the provider's own id, a proven number or a shown document.",
            discussion: """
                A search by number or document requires --reason and is recorded in the audit log, without the number.
                """,
            example: "user find --external-id ada --provider acme")
        @OptionGroup var shared: SharedOptions
        @Option(help: "The provider's own id of the user.") var externalID: String?
        @Option(help: "With --external-id: the only provider to search, by its slug or id.") var provider: String?
        @Option(help: "A telephone number in its international form.") var phone: String?
        @Option(help: "A document, ISSUER:NUMBER, such as VA:T64235789 or D:C01X00T47.") var document: String?
        @Option(help: "The reason: a code or a ticket's number, kept in the audit log.") var reason: String?

        func report(_ admin: Admin) async throws -> Report {
            let traits = [externalID, phone, document].count { $0 != nil }
            guard traits == 1 else {
                throw CommandFailure(
                    "Give \(traits == 0 ? "" : "only ")one of --external-id, --phone and --document.", exitCode: .usage)
            }
            if let externalID {
                let found = try await admin.administration.findUsers(externalID: externalID, of: provider)
                let place = provider.map { "The provider \($0)" } ?? "No provider"
                return Report(
                    found, UserCommand.fields,
                    none: "\(place) has \(provider == nil ? "a" : "no") user with the external id "
                        + "\(Refusal.quoted(externalID)).\(Self.otherForm(of: externalID))")
            }
            guard let reason else {
                throw CommandFailure(
                    "--reason is missing: the owner of a number or document is personal data, and access is recorded.",
                    exitCode: .usage)
            }
            let why = try auditReason(reason)
            let trait = try trait()
            let found = try await admin.administration.findUsers(trait, reason: why)
            return Report(
                found, UserCommand.fields, none: "No user has proven this \(phone == nil ? "document" : "number").")
        }

        /// A hint for an id that Unicode can write with other bytes, which look alike.
        private static func otherForm(of id: String) -> String {
            let forms = [id.precomposedStringWithCanonicalMapping, id.decomposedStringWithCanonicalMapping]
            return forms.allSatisfy { $0.utf8.elementsEqual(id.utf8) }
                ? "" : " Ids are compared byte by byte: try the other Unicode form of this one, NFC or NFD."
        }

        private func trait() throws -> Administration.UserTrait {
            try asUsage {
                if let phone { return .phone(try PhoneNumber(fromCaller: phone)) }
                guard case .document(let name) = try BanTarget.document(reading: document ?? "") else {
                    throw Refusal.unreadableDocument
                }
                return .document(name)
            }
        }
    }
}
