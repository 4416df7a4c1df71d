import Database
import Domain
import Repositories

/// An admin adds an app to a provider.
package struct AddApplication: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// Adds.
    ///
    /// - Throws: `Refusal` `not_found`, `malformed_request` for the name.
    package func callAsFunction(_ name: String, to provider: String) async throws -> Application {
        try PlainText.require(name, about: .name, bytes: 1...256, for: .prose)
        let (id, actor): (ApplicationID, String) = (context.environment.newIdentifier(), context.actor)
        return try await context.write { transaction, events in
            let records = ProviderRepository(transaction)
            let application = Application(id: id, providerID: try records.require(provider).id, name: name)
            try records.insert(application, at: transaction.now)
            events.record(.applicationAdded(id, application.providerID), by: actor)
            return application
        }
    }
}
