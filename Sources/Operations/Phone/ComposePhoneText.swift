import Database
import Delivery
import Domain
import Foundation
import PhoneNumbers
import Repositories

/// Renders the text with a code at the moment of sending. The code is never stored.
package struct ComposePhoneText: Sendable {
    private let context: Service
    private let write: @Sendable (Parts) -> String?

    /// What a text is made of.
    package struct Parts: Sendable {
        /// The digits of the code.
        package let code: String
        /// The tag of the reader's language; `nil` for the policy's own.
        package let language: String?
        /// The name of the provider, by which the reader knows the app.
        package let app: String
    }

    /// - Parameter write: renders the text; `nil` if the policy's text cannot contain the code.
    package init(_ context: Service, write: @escaping @Sendable (Parts) -> String?) {
        self.context = context
        self.write = write
    }

    /// Reads the text for an outbox message. It is dropped if its verification has ended or its user was erased.
    func callAsFunction(_ message: OutboxMessage, in transaction: any Transaction) throws -> OutboxContent {
        let policy = context.policy[\.phones]
        let keys = context.keys.personal
        guard let id = PhoneVerificationID(message.subject[...]),
            let entry = try PhoneVerificationRepository(transaction).find(id)
        else { return .overtaken("the verification was deleted") }
        let challenge = entry.challenge
        let state = challenge.state(now: transaction.now, policy: policy)
        guard state == .open else { return .overtaken("the verification is \(state.rawValue)") }
        do {
            guard let dataKey = try DataKeyRepository(transaction, keys: keys).find(message.userID) else {
                return .overtaken("the user was erased")
            }
            let e164 = try dataKey.open(
                message.payload, in: .outboxPayload, of: message.id)
            guard
                let code = context.phoneCode(
                    version: challenge.keyVersion, verification: id, user: challenge.userID,
                    device: challenge.deviceID, e164: e164)
            else { return .unreadable("the key of the code is not here") }
            guard let number = PhoneNumber(canonical: e164) else { return .unreadable("the number cannot be read") }
            let app = try provider(of: message, in: transaction)
            let parts = Parts(code: code.digits.reveal(), language: challenge.language, app: app)
            guard let body = write(parts) else {
                return .unreadable("the text of the policy cannot hold the code")
            }
            return .message(.text(to: number, body: body))
        } catch is SealingFailure {
            return .unreadable("the number cannot be opened")
        }
    }

    private func provider(of message: OutboxMessage, in transaction: any Transaction) throws -> String {
        guard let user = try UserRepository(transaction).find(message.userID) else { return "" }
        return try ProviderRepository(transaction).find(user.providerID)?.name ?? ""
    }
}
