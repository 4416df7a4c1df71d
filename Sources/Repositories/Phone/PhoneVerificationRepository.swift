import Database
import Domain
import Encoding
import Foundation

/// Phone verifications. The number is stored sealed, and as a blind index; the code is not stored.
package struct PhoneVerificationRepository {
    private let transaction: any Transaction
}

package extension PhoneVerificationRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// A verification and its sealed data.
    struct Entry: Sendable {
        package var challenge: PhoneVerification
        package let numberIndex: Digest256
        /// The number in E.164 form, sealed under the user's data key.
        package let sealedNumber: [UInt8]
        /// The ARN of the push endpoint to register after the proof, sealed.
        package let sealedPushEndpoint: [UInt8]?

        package init(
            challenge: PhoneVerification, numberIndex: Digest256, sealedNumber: [UInt8], sealedPushEndpoint: [UInt8]?
        ) {
            self.challenge = challenge
            self.numberIndex = numberIndex
            self.sealedNumber = sealedNumber
            self.sealedPushEndpoint = sealedPushEndpoint
        }
    }

    private static let columns = Table<Entry>(
        "phone_verifications",
        {
            id, user, device, keyVersion, createdAt, expiresAt, checks, resends, askedAt, isSent, verifiedAt,
            language, numberIndex, sealedNumber, sealedPushEndpoint in
            Entry(
                challenge: PhoneVerification(
                    id: id, userID: user, deviceID: device, keyVersion: keyVersion, createdAt: createdAt,
                    expiresAt: expiresAt, checks: checks, resends: resends, askedAt: askedAt, isSent: isSent,
                    verifiedAt: verifiedAt, language: language),
                numberIndex: numberIndex, sealedNumber: sealedNumber, sealedPushEndpoint: sealedPushEndpoint)
        },
        Field("id", \.challenge.id),
        Field("user_id", \.challenge.userID),
        Field("device_id", \.challenge.deviceID),
        Field("key_version", \.challenge.keyVersion),
        Field("created_at", \.challenge.createdAt),
        Field("expires_at", \.challenge.expiresAt),
        Field("checks", \.challenge.checks),
        Field("resends", \.challenge.resends),
        Field("asked_at", \.challenge.askedAt),
        Field("is_sent", \.challenge.isSent),
        Field("verified_at", \.challenge.verifiedAt),
        Field("language", \.challenge.language),
        Field("number_index", \.numberIndex),
        Field(.verificationNumber, \.sealedNumber),
        Field(.verificationPushEndpoint, \.sealedPushEndpoint))

    func insert(_ entry: Entry) throws {
        try transaction.enqueue(Self.columns.insertion, Self.columns.row(entry))
    }

    /// The verification with an id; `nil` if there is none.
    func find(_ id: PhoneVerificationID) throws -> Entry? {
        try transaction.first(Self.columns, "WHERE id = $1", [.id(id)])
    }

    /// The newest unexpired verification of a user on a device for a number.
    func findUnexpired(
        userID: UserID, deviceID: DeviceID, numberIndexes: [Digest256]
    ) throws -> Entry? {
        for index in numberIndexes {
            let found = try transaction.first(
                Self.columns,
                """
                WHERE user_id = $1 AND number_index = $2 AND device_id = $3 AND expires_at > $4
                ORDER BY created_at DESC, id LIMIT 1
                """,
                [.id(userID), index.value, .id(deviceID), .time(transaction.now)])
            if let found { return found }
        }
        return nil
    }

    /// Counts a check by a user on a device, and returns the verification with this check included; `nil` if it is
    /// unknown or belongs to another user. The row stays locked until the transaction ends, so concurrent checks are
    /// decided in turn.
    func countCheck(
        _ id: PhoneVerificationID, userID: UserID, deviceID: DeviceID
    ) throws -> Entry? {
        try transaction.first(
            """
            UPDATE phone_verifications SET checks = checks + 1 WHERE id = $1 AND user_id = $2 AND device_id = $3
            RETURNING \(Self.columns)
            """, [.id(id), .id(userID), .id(deviceID)]
        ).map(Self.columns.read)
    }

    /// Records that the correct code was submitted.
    func recordVerified(_ id: PhoneVerificationID, at time: Date) throws {
        try transaction.execute(
            "UPDATE phone_verifications SET verified_at = $2 WHERE id = $1", [.id(id), .time(time)])
    }

    /// Records a resend; `false` if a concurrent one was recorded first.
    func recordResend(_ challenge: PhoneVerification) throws -> Bool {
        try transaction.execute(
            "UPDATE phone_verifications SET resends = $2, asked_at = $3, is_sent = $4 WHERE id = $1 AND resends = $5",
            [
                .id(challenge.id), challenge.resends.value, .time(challenge.askedAt), challenge.isSent.value,
                (challenge.resends - 1).value,
            ]) > 0
    }

    /// Replaces the push endpoint given at the start.
    func replacePushEndpoint(_ id: PhoneVerificationID, sealed: [UInt8]?) throws {
        try transaction.enqueue(
            "UPDATE phone_verifications SET sealed_push_endpoint = $2 WHERE id = $1", [.id(id), sealed.value])
    }

    func erase(_ user: UserID) throws {
        for table in ["phone_verifications", "phone_failures"] {
            try transaction.execute("DELETE FROM \(table) WHERE user_id = $1", [.id(user)])
        }
    }

    private static let old = AgedRows(of: "phone_verifications", key: "id", age: "expires_at")

    /// Deletes the verifications that expired before a time.
    @discardableResult
    func purge(
        expiredBefore moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.old.take(before: moment, batch, in: transaction)
    }
}
