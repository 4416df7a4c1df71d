import Database
import Delivery
import Domain
import Foundation
import PhoneNumbers
import Repositories

/// The parts of a text with a code.
package struct PhoneTextParts: Sendable {
    /// The digits of the code.
    package let code: String
    /// The tag of the reader's language; `nil` for the policy's language.
    package let language: String?
    /// The name of the provider, by which the reader knows the app.
    package let app: String
}

extension Service {
    /// Renders the text of an outbox message when it is sent, because the code is never stored. The text is dropped if
    /// its verification has ended or its user was erased.
    ///
    /// - Parameter write: renders the text; `nil` if the policy's text cannot contain the code.
    func composePhoneText(
        _ message: OutboxMessage, in transaction: any Transaction, write: (PhoneTextParts) -> String?
    ) throws -> OutboxContent {
        let policy = policy[\.phones]
        let keys = keys.personal
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
                let code = phoneCode(
                    version: challenge.keyVersion, verification: id, user: challenge.userID,
                    device: challenge.deviceID, e164: e164)
            else { return .unreadable("the key of the code is not here") }
            guard let number = PhoneNumber(canonical: e164) else { return .unreadable("the number cannot be read") }
            let user = try UserRepository(transaction).find(message.userID)
            let app = try user.flatMap { try ProviderRepository(transaction).find($0.providerID)?.name } ?? ""
            let parts = PhoneTextParts(code: code.digits.reveal(), language: challenge.language, app: app)
            guard let body = write(parts) else {
                return .unreadable("the text of the policy cannot hold the code")
            }
            return .message(.text(to: number, body: body))
        } catch is SealingFailure {
            return .unreadable("the number cannot be opened")
        }
    }

    /// The code of a verification for a number; `nil` if its key is missing. A test number has a known code in
    /// development mode only.
    func phoneCode(
        version: Int, verification: PhoneVerificationID, user: UserID, device: DeviceID, e164: String
    ) -> PhoneCode? {
        let digits = policy[\.phones].digits
        let derived = keys.phoneCodes.code(
            version: version, verification: verification, user: user, device: device, e164: e164, digits: digits)
        guard development != nil else { return derived }
        return PhoneCode.ofTestNumber(e164, digits: digits) ?? derived
    }
}
