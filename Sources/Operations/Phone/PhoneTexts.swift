import Database
import Domain
import Encoding
import Foundation
import PhoneNumbers
import Repositories

/// The common part of the start and the resend: limits, guard, and the message in the outbox.
struct PhoneTexts: Sendable {
    let context: ServiceContext

    private var keys: PersonalKeys { context.keys.personal }

    /// A text that is requested in a transaction.
    struct Request: Sendable {
        let challenge: PhoneVerification
        let number: PhoneNumber
        /// The number of the send, from 0.
        let sending: Int
        /// The limit's key for the requester's address.
        let address: String
    }

    /// The result, for metrics and log only: the caller gets the same response in every case.
    struct Outcome: Sendable {
        let decision: SendDecision
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

    /// Decides about a text and, if it may be sent, writes it to the outbox.
    ///
    /// - Throws: `Refusal` `rate_limited` if the requester's own address or account exceeds a limit. The transaction
    ///   must then be rolled back.
    func ask(
        _ request: Request, dataKey: DataKey, names: Names, in transaction: any Transaction,
        _ events: inout RecordedEvents
    ) throws -> Outcome {
        let policy = context.policy[\.phones]
        let challenge = request.challenge
        let indexes = keys.blindIndexes(request.number.e164, .phoneNumber)
        let target = try target(request, indexes, policy, in: transaction)
        if context.rateLimiting == .on {
            // Settled accounts have their own budget for an address, so new accounts behind it cannot use it up.
            let act = target.age == .new && !target.isOwner ? "phone" : "phone settled"
            try RateRepository(transaction).count(
                act, from: request.address, keys: keys,
                limit: RateLimit(count: policy.sendsPerHourPerAddress, per: 3600))
        }
        let streak = try PhoneFailureRepository(transaction).find(userID: challenge.userID, numberIndexes: indexes)
        let attempt = SendAttempt(
            number: request.number, isOwner: target.isOwner, isFrozen: streak.isFrozen(now: transaction.now),
            age: target.age)
        let records = PhoneSendRepository(transaction)
        let counts = try records.counts(for: target, policy: policy)
        let rule = SendGuard(policy: policy, limitsRates: context.rateLimiting == .on)
        try rule.requireWithinUserLimits(attempt, counts)
        let decision = rule.decide(attempt, counts)
        try records.record(decision, to: target, verification: challenge.id, id: names.sending, policy: policy)
        switch decision {
        case .send:
            if try write(request, dataKey: dataKey, id: names.message, in: transaction) {
                events.record(.messageQueued)
            }
        case .withhold(_, let scope?):
            events.record(
                .phoneSendsStopped(name: target.name(of: scope)), by: "service", because: "too_few_verified")
            return Outcome(decision: decision, thinned: target.name(of: scope))
        case .withhold(_, nil): break
        }
        return Outcome(decision: decision, thinned: nil)
    }

    /// The requester and the recipient, as limits count them.
    private func target(
        _ request: Request, _ indexes: [Digest256], _ policy: PhonePolicy, in transaction: any Transaction
    ) throws -> SendTarget {
        let userID = request.challenge.userID
        guard let user = try UserRepository(transaction).find(userID) else {
            throw Refusal(.notFound, "The user no longer exists.")
        }
        return SendTarget(
            userID: userID, providerID: user.providerID,
            age: AccountAge(
                createdAt: user.createdAt, assurance: user.assurance, now: transaction.now, policy: policy),
            network: keys.blindIndex("network " + RequesterNetwork.key(ofAddress: request.address), .networkAddress),
            number: indexes[0], prefixName: prefixName(of: request.number),
            prefix: keys.blindIndex("prefix " + SendGuard.prefix(of: request.number), .phoneNumber),
            country: request.number.region,
            isOwner: try AuthenticatedUserRepository(transaction, keys: keys).isHolder(userID, ofNumber: indexes))
    }

    /// The prefix in the audit log, which is never erased: its country, and a keyed digest that distinguishes
    /// prefixes. The prefix itself is all but four digits of somebody's number, so it must not be stored there.
    private func prefixName(of number: PhoneNumber) -> String {
        let digest = keys.blindIndex(SendGuard.prefix(of: number), .phonePrefix).bytes.prefix(9)
        return "\(number.region) \(Base64URL.encode(Array(digest)))"
    }

    private func write(
        _ request: Request, dataKey: DataKey, id: OutboxMessageID, in transaction: any Transaction
    ) throws -> Bool {
        let challenge = request.challenge
        let message = OutboxMessage(
            id: id, kind: .phoneCode, subject: challenge.id.description, userID: challenge.userID,
            deduplicationKey: "\(OutboxKind.phoneCode.rawValue) \(challenge.id) \(request.sending)",
            payload: try dataKey.seal(
                request.number.e164, in: .outboxPayload, of: id),
            createdAt: transaction.now, expiresAt: challenge.expiresAt, dueAt: transaction.now)
        return try OutboxRepository(transaction).insert(message)
    }
}
