import Database
import Domain
import Encoding
import Foundation
import PhoneNumbers
import Repositories

/// A text that is requested in a transaction.
struct PhoneText: Sendable {
    let challenge: PhoneVerification
    /// The certificate of the session that requests it.
    let thumbprint: Digest256
    let recipient: Recipient
    /// The number of the send, from 0.
    let sending: Int
    /// The evidence that a person made the request; `nil` for none.
    var evidence: SendGuard.Evidence?

    /// The user who requests a text, with the number and the address.
    struct Recipient: Sendable {
        let userID: UserID
        let number: PhoneNumber
        /// The limit's key for the requester's address.
        let address: String
    }

    /// The counts and limits that decide about a text.
    struct Limits: Sendable {
        let target: SendTarget
        let streak: PhoneVerification.FailureStreak
        let counts: SendCounts
    }

    /// The result, for metrics and log only: the caller gets the same response in every case.
    struct Outcome: Sendable {
        let decision: SendGuard.Decision
        /// The name of the scope that the breaker limits from now on; `nil` if there is none.
        let thinned: String?

        var isSent: Bool { if case .send = decision { true } else { false } }
    }

    /// Random ids, drawn before the transaction.
    struct Names: Sendable {
        let sending: UUID
        let message: OutboxMessageID

        init(_ environment: Environment) {
            sending = environment.newUUID()
            message = environment.newIdentifier()
        }
    }
}

/// Common to the start and the resend: limits, guard, and the message in the outbox.
extension Service {
    /// Sends the queries ahead that do not depend on the time.
    func lookAheadForText(_ recipient: PhoneText.Recipient, in transaction: any Transaction) throws {
        let keys = keys.personal
        let (user, indexes) = (recipient.userID, keys.phoneIndexes(recipient.number.e164))
        _ = try UserRepository(transaction).find(user)
        _ = try AuthenticatedUserRepository(transaction, keys: keys).isHolder(user, ofNumber: indexes)
        _ = try PhoneFailureRepository(transaction).find(userID: user, numberIndexes: indexes)
        let dataKeys = DataKeyRepository(transaction, keys: keys)
        _ = try (dataKeys.find(user), dataKeys.versionInForce())
        if rateLimiting == .on {
            let limits = policy[\.phones].sendsPerHourPerSender
            try RateRepository(transaction).lookAhead(
                [SenderAct.settledText, .text].flatMap {
                    RateRepository.keys($0, from: recipient.address, keys: keys, limits: limits)
                })
        }
    }

    /// Reads the counts and limits that decide about a text.
    ///
    /// - Parameter beside: sends further queries ahead.
    func textLimits(
        for recipient: PhoneText.Recipient, in transaction: any Transaction,
        beside: (any Transaction) throws -> Void = { _ in }
    ) throws -> PhoneText.Limits {
        let policy = policy[\.phones]
        let indexes = keys.personal.phoneIndexes(recipient.number.e164)
        let target = try target(recipient, indexes, policy, in: transaction)
        try transaction.ahead {
            _ = try PhoneSendRepository($0).counts(for: target, policy: policy)
            try beside($0)
        }
        return PhoneText.Limits(
            target: target,
            streak: try PhoneFailureRepository(transaction).find(
                userID: recipient.userID, numberIndexes: indexes),
            counts: try PhoneSendRepository(transaction).counts(for: target, policy: policy))
    }

    /// Decides about a text and, if it may be sent, writes it to the outbox.
    ///
    /// - Throws: `Refusal` `conflict` for a device without an attested key, if policy requires one; `rate_limited` if the
    ///   requester's own address or account exceeds a limit. The transaction must then be rolled back.
    func askForText(
        _ text: PhoneText, within limits: PhoneText.Limits, dataKey: DataKey, names: PhoneText.Names,
        in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws -> PhoneText.Outcome {
        let policy = policy[\.phones]
        let (challenge, recipient) = (text.challenge, text.recipient)
        let (target, counts) = (limits.target, limits.counts)
        // The store has the present level: a device may be distrusted between a text and its resend.
        if policy.attestedOnly, try !AttestationRepository(transaction).isAttested(text.thumbprint) {
            throw Refusal.attestedOnly
        }
        var places: RateRepository.Places?
        if rateLimiting == .on {
            places = try RateRepository(transaction).count(
                target.age == .settled || target.isOwner ? .settledText : .text, from: recipient.address,
                keys: keys.personal, limits: policy.sendsPerHourPerSender)
        }
        let attempt = SendGuard.Attempt(
            number: recipient.number, isOwner: target.isOwner, isFrozen: limits.streak.isFrozen(now: transaction.now),
            age: target.age, evidence: text.evidence)
        let records = PhoneSendRepository(transaction)
        let rule = SendGuard(policy: policy, limitsRates: rateLimiting == .on)
        try rule.requireWithinUserLimits(attempt, counts)
        let decision = rule.decide(attempt, counts)
        try records.record(
            decision, to: target, verification: challenge.id, id: names.sending, places: places, policy: policy)
        switch decision {
        case .send:
            try enqueue(text, of: target.providerID, dataKey: dataKey, id: names.message, in: transaction)
            events.record(.messageQueued)
        case .withhold(_, let scope?):
            events.record(
                .phoneSendsStopped(name: target.name(of: scope)), by: "service", because: "too_few_verified")
            return PhoneText.Outcome(decision: decision, thinned: target.name(of: scope))
        case .withhold(_, nil): break
        }
        return PhoneText.Outcome(decision: decision, thinned: nil)
    }

    /// The requester and the recipient, as limits count them.
    private func target(
        _ recipient: PhoneText.Recipient, _ indexes: [Digest256], _ policy: PhonePolicy,
        in transaction: any Transaction
    ) throws -> SendTarget {
        let (userID, keys) = (recipient.userID, keys.personal)
        guard let user = try UserRepository(transaction).find(userID) else {
            throw Refusal.userErased
        }
        return SendTarget(
            userID: userID, providerID: user.providerID,
            age: SendTarget.AccountAge(
                createdAt: user.createdAt, assurance: user.assurance, now: transaction.now, policy: policy),
            network: keys.blindIndex(
                "network " + SendTarget.RequesterNetwork.key(ofAddress: recipient.address), .networkAddress),
            number: indexes[0], prefixName: prefixName(of: recipient.number),
            prefix: keys.blindIndex("prefix " + SendGuard.prefix(of: recipient.number), .phonePrefix),
            country: recipient.number.region,
            isOwner: try AuthenticatedUserRepository(transaction, keys: keys).isHolder(userID, ofNumber: indexes))
    }

    /// The name of a prefix in the audit log: its country, and a keyed digest that distinguishes prefixes. The prefix
    /// itself is all but four digits of a person's number. It must not be stored in the log, which is never erased.
    private func prefixName(of number: PhoneNumber) -> String {
        let digest = keys.personal.blindIndex(SendGuard.prefix(of: number), .phonePrefix).bytes.prefix(9)
        return "\(number.region) \(Base64URL.encode(Array(digest)))"
    }

    private func enqueue(
        _ text: PhoneText, of provider: ProviderID, dataKey: DataKey, id: OutboxMessageID,
        in transaction: any Transaction
    ) throws {
        let challenge = text.challenge
        let message = OutboxMessage(
            id: id, kind: .phoneCode, owner: OutboxOwner(provider), subject: challenge.id.description,
            userID: challenge.userID,
            deduplicationKey: "\(OutboxKind.phoneCode.rawValue) \(challenge.id) \(text.sending)",
            payload: try dataKey.seal(text.recipient.number.e164, in: .outboxPayload, of: id),
            createdAt: transaction.now, expiresAt: challenge.expiresAt, dueAt: transaction.now)
        try OutboxRepository(transaction).enqueueInsert(message)
    }
}

package extension Administration {
    /// The scopes whose texts the breaker limits now, sorted by name.
    ///
    /// - Parameter cursor: a name; the list starts after it.
    func listThinnedTexts(
        limit: Int, after cursor: String? = nil
    ) async throws -> [(name: String, endsAt: Date)] {
        try await read(.manage) { try PhoneSendRepository($0).thinned(limit: limit, after: cursor) }
    }

    /// Ends the breaker's limit of a scope. The scope's counts are reset, so it takes as many failures again to limit
    /// it.
    ///
    /// - Parameter name: the scope's name in the list.
    /// - Throws: `Refusal` `not_found` if no scope of that name is limited.
    func resumeTexts(_ name: String, reason: AuditReason? = nil) async throws {
        try await write(.manage) { transaction, events in
            guard try PhoneSendRepository(transaction).lift(name) else {
                throw Refusal.textsNotLimited
            }
            events.record(.phoneSendsResumed(name: name), by: actor, because: reason)
        }
    }
}
