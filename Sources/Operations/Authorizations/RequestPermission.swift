import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Service {
    struct PermissionRequest: Sendable {
        let id: AuthorizationID
        let to: AuthorizationAddress
        let eventID: String?

        /// Parses a request.
        ///
        /// - Throws: `Refusal` `malformed_request`.
        package init(id: String, to: String, eventID: String?) throws(Refusal) {
            guard let id = AuthorizationID(id[...]) else {
                throw Refusal.notUUID(.newID)
            }
            self.id = id
            self.to = try AuthorizationAddress(to)
            guard eventID.map({ (1...256).contains($0.utf8.count) }) ?? true else {
                throw Refusal.wrongEventIDLength
            }
            self.eventID = eventID
        }
    }

    /// Requests permission to message another user of the same provider. A repetition gets the same response and has no
    /// effect.
    ///
    /// The requester cannot see whether the recipient exists or has blocked them. Such a request is stored, listed and
    /// expires like any other, but is never delivered.
    ///
    /// - Throws: `Refusal` `not_verified` for either side, `not_found` if the id is another user's or the recipient is
    ///   another provider's user. `conflict` if the id belongs to another request, the two have an open one, or the
    ///   recipient rejected one recently. `rate_limited`, `malformed_request`, `unavailable`.
    func requestPermission(_ request: PermissionRequest, for session: Session) async throws -> AuthorizationID {
        let own = try await caches.providers.find(session.providerID)?.provider.slug
        if case .address(let slug, _) = request.to, slug != own { throw Refusal.unknownUser }
        // The counts must commit, so the refusal is thrown after the transaction.
        let refusal = try await act(for: session, inTurn: .permissions, ahead: lookAhead(request, of: session)) {
            transaction, _, events -> Refusal? in
            let parties = AuthorizationParties(policy, in: transaction)
            let found = Result { try find(request.to, of: session, in: transaction) }
            try transaction.ahead {
                let asked = (try? found.get()) ?? nil
                _ = try (oldestOfToday(session.userID, in: $0), earlier(request, asked, session, in: $0))
                for user in [session.userID, asked?.id].compactMap(\.self) {
                    _ = try BanRepository($0).holdsInForce(on: user)
                }
                if let asked { _ = try holds(asked.id, blocks: session.userID, in: $0) }
            }
            try parties.requireCaller(session.userID)
            if let earlier = try AuthorizationRepository(transaction).find(request.id) {
                try requireSame(earlier, request, session, in: transaction)
                return nil
            }
            let asked = try found.get()
            try requireWithinLimit(session.userID, in: transaction)
            // A ban of the recipient must not be revealed either.
            if let asked, try parties.ban(of: asked.id) == nil, try !parties.isVerified(asked.id) {
                try countRefused(session.userID, in: transaction)
                return parties.partnerIsNotVerified
            }
            try record(request, asked, session, in: transaction, &events)
            return nil
        }
        if let refusal { throw refusal }
        return request.id
    }

    /// Sends the queries ahead that do not depend on the time.
    private func lookAhead(_ request: PermissionRequest, of session: Session) -> SessionHolder.Ahead {
        let keys = keys.personal
        return { transaction in
            _ = try AuthorizationRepository(transaction).find(request.id)
            let users = UserRepository(transaction)
            _ = try users.find(session.userID)
            switch request.to {
            case .user(let id): _ = try users.find(id)
            case .address(_, let externalID):
                _ = try users.find(providerID: session.providerID, externalID: externalID)
            }
            let dataKeys = DataKeyRepository(transaction, keys: keys)
            _ = try (dataKeys.find(session.userID), dataKeys.versionInForce())
        }
    }

    private func requireSame(
        _ earlier: MessagingPermission, _ request: PermissionRequest, _ session: Session,
        in transaction: any Transaction
    ) throws {
        guard earlier.requesterID == session.userID else {
            throw Refusal.idTaken
        }
        let words = try SealedRequest.open(earlier, of: session.userID, keys: keys.personal, in: transaction)
        guard words == SealedRequest(to: request.to.text, eventID: request.eventID) else {
            throw Refusal.idReused(state: earlier.state(now: transaction.now).rawValue)
        }
    }

    /// The recipient; `nil` if there is no such user, or if the user was erased.
    private func find(
        _ address: AuthorizationAddress, of session: Session, in transaction: any Transaction
    ) throws -> User? {
        let users = UserRepository(transaction)
        let found: User? =
            switch address {
            case .user(let id): try users.find(id)
            case .address(_, let externalID):
                try users.find(providerID: session.providerID, externalID: externalID)
            }
        guard let found else { return nil }
        guard found.providerID == session.providerID else { throw Refusal.unknownUser }
        guard found.id != session.userID else { throw Refusal.recipientIsCaller }
        return found
    }

    /// Counts the requests themselves, so that the limit is exact for any 24 hours.
    private func requireWithinLimit(_ user: UserID, in transaction: any Transaction) throws {
        guard rateLimiting == .on, let oldest = try oldestOfToday(user, in: transaction) else { return }
        let (now, limit) = (transaction.now, policy[\.authorizations].requestsPerDay)
        let wait = oldest.addingTimeInterval(86_400).timeIntervalSince(now)
        throw Refusal.authorizationsExhausted(
            limit, retryAfter: max(1, Int(saturating: wait.rounded(.up))))
    }

    /// The time of the oldest request of the last 24 hours, if the user has made as many as the policy allows.
    private func oldestOfToday(_ user: UserID, in transaction: any Transaction) throws -> Date? {
        try AuthorizationRepository(transaction).oldest(
            ofNewest: policy[\.authorizations].requestsPerDay, askedBy: user,
            since: transaction.now.addingTimeInterval(-86_400))
    }

    /// The authorizations that may forbid a request.
    private func earlier(
        _ request: PermissionRequest, _ asked: User?, _ session: Session, in transaction: any Transaction
    ) throws -> [MessagingPermission] {
        try AuthorizationRepository(transaction).between(
            session.userID, and: asked?.id,
            targets: keys.personal.blindIndexes("\(session.providerID) \(request.to.text)", .authorizationTarget),
            declinedSince: transaction.now.addingTimeInterval(-policy[\.authorizations].againAfterRejection))
    }

    private func holds(_ user: UserID, blocks other: UserID, in transaction: any Transaction) throws -> Bool {
        try BlockRepository(transaction).holds(user, blocks: other)
    }

    /// The refusal reveals that a user is not verified. It is counted too, so that no caller can test a list of names.
    private func countRefused(_ user: UserID, in transaction: any Transaction) throws {
        guard rateLimiting == .on else { return }
        try RateRepository(transaction).count(
            "authorization \(user)",
            limit: RateLimit(count: policy[\.authorizations].requestsPerDay, per: 86_400))
    }

    private func record(
        _ request: PermissionRequest, _ asked: User?, _ session: Session, in transaction: any Transaction,
        _ events: inout RecordedEvents
    ) throws {
        let now = transaction.now
        let policy = policy[\.authorizations]
        let records = AuthorizationRepository(transaction)
        let targets = keys.personal.blindIndexes("\(session.providerID) \(request.to.text)", .authorizationTarget)
        let parties = AuthorizationParties(self.policy, in: transaction)
        let isBlocked =
            try asked.map {
                try holds($0.id, blocks: session.userID, in: transaction) || parties.ban(of: $0.id) != nil
            } ?? true
        let earlier = try earlier(request, asked, session, in: transaction)
        for one in earlier { try one.requireAskableAgain(now: now, policy: policy) }
        let sealed = try SealedRequest(to: request.to.text, eventID: request.eventID).seal(
            request.id, of: session.userID, keys: keys.personal, in: transaction)
        // All is read before anything is written.
        if earlier.contains(where: { $0.state(now: now) == .expired }) {
            try records.expire(askedBy: session.userID, limit: 1000)
        }
        for one in earlier where one.state != .rejected && !one.state.isOpen { try records.follow(one) }
        let authorization = MessagingPermission(
            id: request.id, providerID: session.providerID, requesterID: session.userID, recipientID: asked?.id,
            target: targets[0], isDelivered: !isBlocked, state: .request, createdAt: now,
            expiresAt: now.addingTimeInterval(policy.requestLifetime), changedAt: now, sealedTo: sealed.to,
            sealedEvent: sealed.event)
        guard try records.insert(authorization) else {
            throw Refusal.requestedTwice(state: MessagingPermission.State.request.rawValue)
        }
        try authorizationPushes.queue(AuthorizationRow(of: authorization), of: authorization, in: transaction, &events)
    }
}
