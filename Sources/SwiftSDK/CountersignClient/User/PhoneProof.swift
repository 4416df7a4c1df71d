import Foundation
import HTTPTypes

/// The proof of a phone number by a texted code.
public struct PhoneProof: Sendable {
    let client: Countersign

    /// A number that waits for its code.
    public struct Verification: Sendable, Hashable, Decodable {
        public let id: UUID
        public let expiresAt: Date
        /// When the code may be sent again; `nil` if it may not.
        public let resendAfter: Date?
        /// The number of digits of the code.
        public let digits: Int

        private enum CodingKeys: String, CodingKey {
            case id, digits
            case expiresAt = "expires_at"
            case resendAfter = "resend_after"
        }
    }

    /// Starts a verification by a texted code. Repeating it while the code is valid returns the same verification and
    /// sends nothing.
    ///
    /// With ``Presence`` the device recognizes the user, and the call carries the proof.
    ///
    /// - Parameters:
    ///   - number: E.164, or without ``Presence`` in the region's notation.
    ///   - region: such as `US`, for a number without `+`.
    ///   - pushEndpoint: the ARN of an Amazon SNS endpoint, for pushes to the user.
    /// - Throws: `invalid_presence_proof`, with reason `missing` if the service requires a proof and this device has no
    ///   key for it; ``StorageFailure/notPresent`` if the user was not recognized. Then nothing was sent.
    public func start(
        _ number: String, region: String? = nil, pushEndpoint: String? = nil
    ) async throws(Refusal) -> Verification {
        var json = ["phone_number": number, "region": region, "push_endpoint": pushEndpoint]
        var nonce: Nonce?
        var proofs = 0
        while true {
            json["presence"] = try await client.presenceProof(of: number, around: nonce)
            proofs += 1
            do throws(Refusal) {
                return try await client.perform(Call(.post, "/phone-verifications", json: json, isRepeatable: true))
            } catch {
                guard proofs < 3, let problem = error.problem, problem.asksForPresence else { throw error }
                nonce = problem.nonce
            }
        }
    }

    /// Checks the code. A code is accepted once, so the call is not repeated if the response is lost. Read
    /// ``Countersign/profile()`` after ``Refusal/unanswered(_:)``.
    ///
    /// - Returns: the user's level, `phone` or higher.
    /// - Throws: `verification_failed` for a wrong, expired or used code; `user_banned` for a banned number.
    @discardableResult
    public func check(_ code: String, of verification: Verification) async throws(Refusal) -> Assurance {
        struct Proved: Decodable { let assurance: Assurance }
        let path = "/phone-verifications/\(verification.id.path)/check"
        let proved: Proved = try await client.perform(Call(.post, path, json: ["code": code]))
        return proved.assurance
    }

    public func resend(_ verification: Verification) async throws(Refusal) -> Verification {
        try await client.perform(Call(.post, "/phone-verifications/\(verification.id.path)/resend"))
    }
}

extension Countersign {
    /// Recognizes the user, and signs a proof around a nonce.
    ///
    /// - Parameter nonce: from a refusal.
    /// - Returns: `nil` if this device has no key for it.
    fileprivate func presenceProof(of number: String, around nonce: Nonce?) async throws(Refusal) -> String? {
        try load()
        guard let presence, let keyName = record.device?.presenceKeyName else { return nil }
        let fresh: Nonce
        if let nonce { fresh = nonce } else { fresh = try await takeNonce() }
        return try await presence.proof(of: number, nonce: fresh, keyName: keyName, at: serviceTime)
    }

    public nonisolated var phone: PhoneProof { PhoneProof(client: self) }
}
