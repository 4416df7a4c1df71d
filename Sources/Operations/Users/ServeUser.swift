import Database
import Domain
import Encoding
import Foundation
import Repositories

/// What users may see, change and erase of what is held on them.
package struct ServeUser: Sendable {
    private let store: SessionStore
    private let keys: PersonalKeys
    private let providers: ProviderCache
    private let bans: RefuseBanned
    private let sessions: SessionCache
    private let policy: CurrentPolicy
    private let environment: Environment

    package init(
        store: any Database, keys: PersonalKeys, providers: ProviderCache, bans: RefuseBanned,
        sessions: SessionCache, policy: CurrentPolicy, environment: Environment
    ) {
        self.store = SessionStore(store)
        self.keys = keys
        self.providers = providers
        self.bans = bans
        self.sessions = sessions
        self.policy = policy
        self.environment = environment
    }

    package struct Own: Sendable {
        package let user: User
        /// `<provider slug>/<external id>`.
        package let address: String
        /// What was proved; `nil` where nothing was yet.
        package let proved: AuthenticatedUser?
        package let age: Int?
    }

    /// The user whom an export token opens to a banned user's device.
    ///
    /// - Throws: `Refusal` `session_required` or `session_expired`.
    package func holder(of exportToken: String, on connection: ClientConnection) throws(Refusal) -> UserID {
        try bans.holder(of: exportToken, on: connection, now: environment.now())
    }

    package func callAsFunction(_ session: Session) async throws -> Own {
        let address = try await providers.find(session.providerID)?.provider.address(of: session.externalID)
        let today = CalendarDate(utcDayOf: environment.now())
        return try await store.snapshot { transaction in
            guard let user = try UserRepository(transaction).find(session.userID) else {
                throw Refusal(.notFound, "The user is gone.")
            }
            let proved = try AuthenticatedUserRepository(transaction, keys: keys).find(user.id)
            return Own(
                user: user, address: address ?? session.externalID, proved: proved, age: proved?.age(on: today))
        }
    }

    /// Sets where pushes go.
    ///
    /// - Throws: `Refusal` `malformed_request` for an endpoint of no app that policy names, `conflict` before a phone
    ///   number is proven.
    package func setPushEndpoint(_ arn: String?, for session: Session) async throws {
        let applications = policy[\.phones].pushApplications
        let endpoint = try arn.map { arn throws(Refusal) in try PushEndpoint(arn, of: applications) }
        let pushes = PushAuthorizations(keys: keys, policy: policy, environment: environment)
        let isSet = try await store.act(for: session) { transaction, _ in
            let isSet = try AuthenticatedUserRepository(transaction, keys: keys).setPushEndpoint(
                endpoint?.arn, of: session.userID)
            if isSet, endpoint != nil { try pushes.queueUnsent(to: session.userID, in: transaction) }
            return isSet
        }
        guard isSet else {
            throw Refusal(
                .conflict, "Prove a phone number first.", about: .phoneVerification, state: Assurance.none.rawValue)
        }
    }

    /// Everything that is held on the user.
    ///
    /// - Throws: `Refusal` `session_challenged` where the session is older than ten minutes.
    package func export(for session: Session) async throws -> PersonalExport {
        try requireFresh(session)
        let auditID = environment.newUUID()
        return try await store.act(for: session) { transaction, holder in
            try export(of: holder.user.id, auditID, in: transaction)
        }
    }

    /// Everything that is held on a user whose export token was shown on a connection.
    ///
    /// - Throws: `Refusal` `certificate_revoked`.
    package func export(of user: UserID, on connection: ClientConnection) async throws -> PersonalExport {
        let auditID = environment.newUUID()
        return try await store.act(on: connection) { try export(of: user, auditID, in: $0) }
    }

    private func export(of user: UserID, _ auditID: UUID, in transaction: any Transaction) throws -> PersonalExport {
        try AuditRepository(transaction).append(
            .personalDataRead, subject: "user \(user)", actor: "user \(user)", detail: "export",
            reason: "user_request", id: auditID)
        let line = try AdministerUsers.line(user.description, in: transaction)
        return try PersonalExport.collect(line.user, address: line.address, keys: keys, in: transaction)
    }

    /// Erases the user: the answer's receipt is the audit entry's id.
    ///
    /// - Throws: `Refusal` `session_challenged` where the session is older than ten minutes.
    package func erase(for session: Session) async throws -> UUID {
        try requireFresh(session)
        let receipt = environment.newUUID()
        try await store.act(for: session) { transaction, holder in
            try erase(holder.user.id, receipt, in: transaction)
        }
        sessions.drop { $0.userID == session.userID }
        return receipt
    }

    /// Erases a user whose export token was shown on a connection.
    ///
    /// - Throws: `Refusal` `certificate_revoked`.
    package func erase(_ user: UserID, on connection: ClientConnection) async throws -> UUID {
        let receipt = environment.newUUID()
        try await store.act(on: connection) { try erase(user, receipt, in: $0) }
        sessions.drop { $0.userID == user }
        return receipt
    }

    private func erase(_ user: UserID, _ receipt: UUID, in transaction: any Transaction) throws {
        try EraseUser(keys: keys)(
            user, actor: "user \(user)", reason: "user_request", auditID: receipt, in: transaction)
    }

    /// What cannot be undone, or shows everything, wants a user who proved an identity just now.
    private func requireFresh(_ session: Session) throws(Refusal) {
        guard environment.now().timeIntervalSince(session.renewedAt) <= 600 else {
            throw Refusal(
                .sessionChallenged,
                "This call wants a session that was created or renewed within the last ten minutes: sign in again.")
        }
    }
}

/// Everything that is held on one user, for the user's own eyes or an admin's.
package struct PersonalExport: Sendable, Confidential {
    package let user: User
    /// `<provider slug>/<external id>`.
    package let address: String
    /// What the provider says.
    package let displayName: String?
    /// Where the provider's picture lies.
    package let avatarURL: String?
    package let proved: AuthenticatedUser?
    /// The cards that were shown: name, status, submission, checks, what was read.
    package let cards: [(entry: IdentityCardRepository.Entry, facts: CardFacts?)]
    /// The sessions that were not ended.
    package let sessions: [Session]
    /// What the user asked of others, in the user's words, and was asked by others.
    let authorizations: [AuthorizationEntry]
    package let blocked: [UserID]

    typealias AuthorizationEntry = (Authorization, AuthorizationBox, words: SealedRequest?)

    static func collect(
        _ user: User, address: String, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> PersonalExport {
        let profile = try UserProfile.find(user.id, keys: keys, in: transaction)
        let authorizations = try AuthorizationBox.allCases.flatMap { box in
            try AuthorizationRepository(transaction).list(of: user.id, box: box, state: nil, limit: 10_000).map {
                ($0, box, box == .outgoing ? try .open($0, of: user.id, keys: keys, in: transaction) : nil)
                    as AuthorizationEntry
            }
        }
        return PersonalExport(
            user: user, address: address, displayName: profile.displayName, avatarURL: profile.avatarURL,
            proved: try AuthenticatedUserRepository(transaction, keys: keys).find(user.id),
            cards: try IdentityCardRepository(transaction).list(of: user.id).map {
                ($0, try SealedCard.facts(of: $0, keys: keys, in: transaction))
            },
            sessions: try SessionRepository(transaction).listOpen(.user(user.id)), authorizations: authorizations,
            blocked: try BlockRepository(transaction).list(of: user.id))
    }

    /// The form in which it is given out.
    package var json: JSONValue {
        let text = Self.text
        return .object([
            "user_id": text(user.id.description), "address": text(address),
            "provider_id": text(user.providerID.description), "created_at": text(user.createdAt.rfc3339),
            "assurance": text(user.assurance.rawValue), "display_name": text(displayName),
            "avatar_url": text(avatarURL), "phone_number": text(proved?.phoneNumber),
            "push_endpoint": text(proved?.pushEndpoint), "full_name": text(proved?.fullName),
            "date_of_birth": text(proved?.dateOfBirth?.text), "postal_address": text(proved?.postalAddress),
            "document_number": text(proved?.documentNumber), "jurisdiction": text(proved?.jurisdiction),
            "phone_verified_at": text(proved?.phoneVerifiedAt.rfc3339),
            "identity_verified_at": text(proved?.identityVerifiedAt?.rfc3339),
            "suspended": text(proved?.suspended?.rawValue),
            "cards": .array(cards.map { Self.json($0) }), "sessions": .array(sessions.map { Self.json($0) }),
            "authorizations": .array(authorizations.map { Self.json($0.0, $0.1, to: $0.2?.to, event: $0.2?.eventID) }),
            "blocked": .array(blocked.map { .string($0.description) }),
        ])
    }

    private static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    private static func json(_ card: (entry: IdentityCardRepository.Entry, facts: CardFacts?)) -> JSONValue {
        let checks = CardCheck.list(jsonText: card.entry.checks).map { check in
            JSONValue.object(["name": text(check.name.rawValue), "result": text(check.result.rawValue)])
        }
        return .object([
            "id": text(card.entry.id.description), "status": text(card.entry.status.rawValue),
            "submitted_at": text(card.entry.submittedAt.rfc3339), "checks": .array(checks),
            "full_name": text(card.facts?.fullName), "date_of_birth": text(card.facts?.dateOfBirth.text),
            "address": text(card.facts?.address?.line), "document_number": text(card.facts?.documentNumber),
            "expires_on": text(card.facts?.expiresOn.text),
        ])
    }

    private static func json(_ session: Session) -> JSONValue {
        .object([
            "id": text(session.id.description), "device_id": text(session.deviceID.description),
            "app_id": text(session.applicationID.description), "created_at": text(session.createdAt.rfc3339),
            "last_used_at": text(session.lastUsedAt.rfc3339),
        ])
    }

    private static func json(
        _ authorization: Authorization, _ box: AuthorizationBox, to recipient: String?, event: String?
    ) -> JSONValue {
        .object([
            "id": text(authorization.id.description), "box": text(box.rawValue),
            "state": text(authorization.state.rawValue), "to": text(recipient), "event_id": text(event),
            "grant": text(authorization.grant), "created_at": text(authorization.createdAt.rfc3339),
        ])
    }
}
