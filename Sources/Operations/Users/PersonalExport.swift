import Database
import Domain
import Encoding
import Repositories

/// All stored data of one user, for the user or an admin.
package struct PersonalExport: Sendable, Confidential {
    let user: User
    /// The user's address in the API: `<provider slug>/<external id>`.
    let address: String
    /// The display name from the provider.
    let displayName: String?
    /// The URL of the picture from the provider.
    let avatarURL: String?
    let proved: AuthenticatedUser?
    /// The push endpoints of the user's devices.
    let endpoints: [PushEndpointRepository.Registration]
    /// The submitted cards: name, status, submission, checks, and the data that was read.
    let cards: [(entry: IdentityCardRepository.Entry, facts: CardFacts?)]
    /// The ages that the user's wallet proved.
    let ages: ProvenAges?
    /// The sessions that have not ended, and what was attested about their devices.
    let sessions: [(Session, DeviceAttestation.Level)]
    /// The newest attempts to sign in.
    let signIns: [SignInAttempt]
    /// The user's requests to others, in the user's words, and others' requests to the user.
    let authorizations: [AuthorizationEntry]
    let blocked: [UserID]
    /// The authorizations whose requesters the user blocks without knowing their ids.
    let blockedRequesters: [AuthorizationID]
    /// The addresses by which others can find the user.
    let findable: [FindableAddressRepository.Entry]
    /// The apps that the user forbids.
    let forbiddenApps: [ApplicationID]
    /// How long the user's messages are stored.
    let storage: MessageStorage
    /// Whether the user has hidden the presence, and when the user was last online.
    let presence: PresenceRepository.Entry
    /// The user's messages, and the streams that they are in.
    let written: ExportedMessages

    typealias AuthorizationEntry = (MessagingPermission, MessagingPermission.Box, words: SealedRequest?)

    static func collect(
        _ user: User, address: String, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> PersonalExport {
        let profile = try UserProfile.find(user.id, keys: keys, in: transaction)
        // No requests are read for an erased user, even if rows remain.
        let boxes = try ErasureRepository(transaction).isUnderWay(user.id) ? [] : MessagingPermission.Box.allCases
        let authorizations = try boxes.flatMap { box in
            try AuthorizationRepository(transaction).list(of: user.id, box: box, state: nil, limit: 10_000).map {
                ($0, box, box == .outgoing ? try .open($0, of: user.id, keys: keys, in: transaction) : nil)
                    as AuthorizationEntry
            }
        }
        return PersonalExport(
            user: user, address: address, displayName: profile.displayName, avatarURL: profile.avatarURL,
            proved: try AuthenticatedUserRepository(transaction, keys: keys).find(user.id),
            endpoints: try PushEndpointRepository(transaction, keys: keys).list(of: user.id),
            cards: try IdentityCardRepository(transaction).list(of: user.id).map {
                ($0, try SealedCard.facts(of: $0, keys: keys, in: transaction))
            },
            ages: try AgeProofRepository(transaction, keys: keys).find(user.id),
            sessions: try SessionRepository(transaction).listOpen(.user(user.id)).map { session in
                let certificate = try CertificateRepository(transaction).find(thumbprint: session.thumbprint)
                return (session, certificate?.attestation ?? .unattested)
            },
            signIns: try SignInRecordRepository(transaction).list(of: user.id, after: .start, limit: 1000),
            authorizations: authorizations,
            blocked: try BlockRepository(transaction).list(of: user.id),
            blockedRequesters: try BlockRepository(transaction).listAuthorizations(of: user.id),
            findable: try FindableAddressRepository(transaction).list(of: user.id),
            forbiddenApps: try ForbiddenAppRepository(transaction).list(of: user.id).map(\.app),
            storage: try MessageStorageRepository(transaction).storage(of: user.id),
            presence: try PresenceRepository(transaction).find([user.id])[user.id] ?? .init(),
            written: try ExportedMessages.collect(user.id, keys: keys, in: transaction))
    }
}

package extension PersonalExport {
    /// The size in bytes that is claimed for an export before it is read. Then its actual size is used.
    static let usualSize = 1_048_576

    /// The JSON form for the user or the admin.
    var json: JSONValue {
        let text = Self.text
        return .object([
            "user_id": text(user.id.description), "address": text(address),
            "provider_id": text(user.providerID.description), "created_at": text(user.createdAt.rfc3339),
            "assurance": text(user.assurance.rawValue), "display_name": text(displayName),
            "avatar_url": text(avatarURL), "phone_number": text(proved?.phoneNumber),
            "push_endpoints": .array(endpoints.map { Self.json($0) }), "full_name": text(proved?.fullName),
            "date_of_birth": text(proved?.dateOfBirth?.text), "postal_address": text(proved?.postalAddress),
            "document_number": text(proved?.documentNumber), "jurisdiction": text(proved?.jurisdiction),
            "phone_verified_at": text(proved?.phoneVerifiedAt.rfc3339),
            "identity_verified_at": text(proved?.identityVerifiedAt?.rfc3339),
            "suspended": text(proved?.suspended?.rawValue),
            "age_proof": ages?.json ?? .null,
            "cards": .array(cards.map { Self.json($0) }), "sessions": .array(sessions.map { Self.json($0, $1) }),
            "sign_ins": .array(signIns.map { Self.json($0) }),
            "authorizations": .array(authorizations.map { Self.json($0.0, $0.1, to: $0.2?.to, event: $0.2?.eventID) }),
            "blocked": .array(blocked.map { .string($0.description) }),
            "blocked_requesters": .array(blockedRequesters.map { .string($0.description) }),
            "findable_addresses": .array(findable.map { .string($0.type.rawValue) }),
            "forbidden_apps": .array(forbiddenApps.map { .string($0.description) }),
            "message_storage": text(storage.rawValue), "presence": text(presence.visibility.rawValue),
            "last_seen": text(presence.seenAt?.rfc3339), "streams": written.streamsJSON,
            "messages": written.messagesJSON, "message_metadata": written.metadataJSON,
            "notifications": written.notificationsJSON,
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
            "issuer_signature": text(card.facts?.issuerSignature.state.rawValue),
            "signed_credential": text(card.facts?.issuerSignature.credential.map { Base64URL.encode($0) }),
        ])
    }

    private static func json(_ registration: PushEndpointRepository.Registration) -> JSONValue {
        .object([
            "device_id": text(registration.device.description), "push_endpoint": text(registration.endpoints.usual),
            "call_endpoint": text(registration.endpoints.calls),
            "registered_at": text(registration.registeredAt.rfc3339),
        ])
    }

    private static func json(_ session: Session, _ attestation: DeviceAttestation.Level) -> JSONValue {
        .object([
            "id": text(session.id.description), "device_id": text(session.deviceID.description),
            "app_id": text(session.applicationID.description), "created_at": text(session.createdAt.rfc3339),
            "last_used_at": text(session.lastUsedAt.rfc3339), "device_attestation": text(attestation.rawValue),
        ])
    }

    private static func json(_ attempt: SignInAttempt) -> JSONValue {
        .object([
            "id": text(attempt.id.description), "at": text(attempt.at.rfc3339), "act": text(attempt.act.rawValue),
            "code": text(attempt.code), "reason": text(attempt.reason),
            "device_id": text(attempt.deviceID?.description), "app_id": text(attempt.applicationID?.description),
            "session_id": text(attempt.sessionID?.description),
        ])
    }

    private static func json(
        _ authorization: MessagingPermission, _ box: MessagingPermission.Box, to recipient: String?, event: String?
    ) -> JSONValue {
        .object([
            "id": text(authorization.id.description), "box": text(box.rawValue),
            "state": text(authorization.state.rawValue), "to": text(recipient), "event_id": text(event),
            "grant": text(authorization.grant), "created_at": text(authorization.createdAt.rfc3339),
        ])
    }
}

extension ProvenAges {
    /// The form in exports and archives.
    var json: JSONValue {
        .object([
            "age_over_18": .bool(proof.proves(18)), "age_over_21": .bool(proof.proves(21)),
            "proven_at": .string(provenAt.rfc3339),
        ])
    }
}
