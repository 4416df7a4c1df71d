import Database
import Domain
import Encoding
import Foundation
import PhoneNumbers
import Repositories

/// What the start and the resend of a code share: the limits, the guard, and the message into the outbox.
struct PhoneTexts: Sendable {
    let context: ServiceContext

    private var keys: PersonalKeys { context.keys.personal }

    /// A text that is asked for in a transaction.
    struct Request: Sendable {
        let challenge: PhoneVerification
        let number: PhoneNumber
        /// Which sending of the code this is, from 0.
        let sending: Int
        /// The limit's key for the requester's address.
        let address: String
    }

    /// What became of it, for metrics and log: a caller is told the same whatever it is.
    struct Outcome: Sendable {
        let decision: SendDecision
        /// The name of what is thinned out from now on.
        let thinned: String?

        var isSent: Bool { if case .send = decision { true } else { false } }
    }

    /// Chance, drawn before the transaction.
    struct Names: Sendable {
        let sending: UUID
        let message: OutboxMessageID

        init(_ environment: Environment) {
            sending = environment.newUUID()
            message = environment.newIdentifier()
        }
    }

    /// Decides about a text and, where it may go out, writes it into the outbox.
    ///
    /// - Throws: `Refusal` `rate_limited` for what the requester's own address or account asks too often; then nothing
    ///   of the transaction may stay.
    func ask(
        _ request: Request, dataKey: DataKey, names: Names, in transaction: any Transaction,
        _ events: inout RecordedEvents
    ) throws -> Outcome {
        let policy = context.policy[\.phones]
        let challenge = request.challenge
        let indexes = keys.blindIndexes(request.number.e164, .phoneNumber)
        let target = try target(request, indexes, policy, in: transaction)
        if context.rateLimiting == .on {
            // Settled accounts have an address's budget of their own: new ones behind it cannot use it up.
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

    /// Who asks for what, as it is counted.
    private func target(
        _ request: Request, _ indexes: [Digest256], _ policy: PhonePolicy, in transaction: any Transaction
    ) throws -> SendTarget {
        let userID = request.challenge.userID
        guard let user = try UserRepository(transaction).find(userID) else {
            throw Refusal(.notFound, "The user is gone.")
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

    /// How the audit log, which is never erased, names a number's prefix: its country, and a keyed digest by which one
    /// prefix is known from another. All but four digits of somebody's number would be too much to keep.
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
