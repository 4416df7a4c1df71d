import Database
import Domain
import Foundation
import Repositories

extension MaintenanceTask {
    /// Deletes expired data, table by table, scans of cards first. Ages are computed by the store's clock: a node whose
    /// own clock is ahead would delete nonces that are still valid.
    static func all(of service: Service) -> [MaintenanceTask] {
        let policy = service.policy
        return access(policy) + phone(policy) + people(policy) + messages() + discovery()
            + events(policy, service.environment) + [ApplyCardDecisions(service).task]
    }

    private static let minute: TimeInterval = 60
    private static let day: TimeInterval = 86_400

    private static func access(_ policy: CurrentPolicy) -> [MaintenanceTask] {
        [
            MaintenanceTask("card_input", every: minute) {
                try IdentityCardRepository($0).dropInput(before: $0.ago(policy[\.cards].rawInputKept), $1)
            },
            MaintenanceTask("spent_identifiers", every: minute) {
                try NonceRepository($0).purgeIdentifiers(expiredBefore: $0.ago(policy[\.nonces].keptAfterExpiry), $1)
            },
            MaintenanceTask("ended_sessions", every: minute) {
                try SessionRepository($0).purgeEnded(before: $0.ago(policy.sessionsKept), $1)
            },
            MaintenanceTask("expired_sessions", every: minute) {
                try SessionRepository($0).purgeExpired(before: $0.ago(policy.sessionsKept), $1)
            },
            MaintenanceTask("sign_ins", every: minute) {
                try SignInRecordRepository($0).purge(before: $0.ago(policy[\.retention].signIns), $1)
            },
            MaintenanceTask("sign_in_tallies", every: minute) {
                try SignInTallyRepository($0).purge(before: $0.ago(policy[\.retention].signIns), $1)
            },
            MaintenanceTask("rates", every: minute) { try RateRepository($0).purge(before: $0.ago(minute), $1) },
            MaintenanceTask("recent_certifications", every: minute) { try RepeatedRequestRepository($0).purge($1) },
            MaintenanceTask("nodes", every: minute) { transaction, _ in
                .all(try ClusterMemberRepository(transaction).purge(unseenSince: transaction.ago(day)))
            },
            MaintenanceTask("ended_certificates", every: minute) {
                try CertificateUpkeep($0).purge(endedBefore: $0.ago(policy[\.retention].endedCertificates), $1)
            },
            MaintenanceTask("unseen_certificates", every: minute) {
                try CertificateUpkeep($0).unadmit(issuedBefore: $0.ago(policy[\.retention].unseenCertificates), $1)
            },
        ]
    }

    private static func events(_ policy: CurrentPolicy, _ environment: Environment) -> [MaintenanceTask] {
        [unattendedStreams(policy, environment), certificateNotices(), distrustedDevices(policy)]
    }

    /// Disables the streams whose receivers do not read their events, or are gone.
    private static func unattendedStreams(_ policy: CurrentPolicy, _ environment: Environment) -> MaintenanceTask {
        MaintenanceTask("full_streams", every: 10) { transaction, batch, events in
            let limit = min(batch.limit, 100)
            let streams = try EventStreamRepository(transaction).listOpen(after: batch.after ?? "", limit: limit)
            let webhooks = policy[\.webhooks]
            let disable = DisableUnattendedStream(
                held: webhooks.eventsHeld, inactivity: webhooks.streamInactivity, environment: environment,
                transaction: transaction)
            for (index, stream) in streams.enumerated() {
                // It has as many events as one transaction may delete, so the next stream is left to the next batch.
                guard try disable(stream, &events) else { continue }
                return MaintenanceBatch.Outcome(rows: index + 1, reached: stream.id.description, isFinished: false)
            }
            return MaintenanceBatch.Outcome(
                rows: streams.count, reached: streams.last?.id.description, isFinished: streams.count < limit)
        }
    }

    /// Finds the devices whose attested keys are on a new list of revoked certificates.
    private static func distrustedDevices(_ policy: CurrentPolicy) -> MaintenanceTask {
        MaintenanceTask("distrusted_devices", every: 10) { transaction, batch, events in
            try DistrustDevices(
                action: policy[\.certification].attestation.revoked, transaction: transaction)(batch, &events)
        }
    }

    /// Notifies providers of revoked certificates for users that the revocation itself did not include.
    private static func certificateNotices() -> MaintenanceTask {
        MaintenanceTask("certificate_notices", every: 10) { transaction, batch, events in
            let limit = min(batch.limit, NotifyOfRevocation.atOnce)
            let notices = try CertificateNoticeRepository(transaction).take(limit: limit)
            for notice in notices {
                events.record(.userCertificateRevoked(serial: notice.serial, notice.user, of: notice.provider))
            }
            return MaintenanceBatch.Outcome(rows: notices.count, reached: nil, isFinished: notices.count < limit)
        }
    }

    private static func phone(_ policy: CurrentPolicy) -> [MaintenanceTask] {
        [
            MaintenanceTask("phone_sends", every: minute) {
                try PhoneSendRepository($0).purge(before: $0.ago(policy.textsKept), $1)
            },
            MaintenanceTask("phone_send_counters", every: minute) { try PhoneSendRepository($0).dropCounters($1) },
            MaintenanceTask("phone_tallies", every: minute) { try PhoneSendRepository($0).purgeTallies($1) },
            MaintenanceTask("phone_groups", every: minute) { try PhoneSendRepository($0).purgeGroups($1) },
            MaintenanceTask("phone_sums", every: minute) { transaction, _ in
                .all(try PhoneSendRepository(transaction).purgeSums(before: transaction.ago(policy.textsKept)))
            },
            MaintenanceTask("phone_failures", every: minute) {
                try PhoneFailureRepository($0).purge(before: $0.ago(policy.textsKept), $1)
            },
            MaintenanceTask("phone_verifications", every: minute) {
                try PhoneVerificationRepository($0).purge(expiredBefore: $0.ago(day), $1)
            },
        ]
    }

    private static func people(_ policy: CurrentPolicy) -> [MaintenanceTask] {
        [
            EraseRest.task,
            MaintenanceTask("authorizations", every: minute) {
                $1.outcome(try AuthorizationRepository($0).expire(limit: $1.limit))
            },
            MaintenanceTask("withdrawn_authorizations", every: minute) {
                try PermissionRevocationRepository($0).carryOut($1)
            },
            MaintenanceTask("ended_authorizations", every: minute) {
                try AuthorizationRepository($0).purge(endedBefore: $0.ago(policy.authorizationsKept), $1)
            },
            MaintenanceTask("unredeemed_presentations", every: minute) {
                try PresentationRepository($0).discardUnredeemed($1)
            },
            MaintenanceTask("presentations", every: minute) {
                try PresentationRepository($0).purge(expiredBefore: $0.ago(3600), $1)
            },
            MaintenanceTask("ban_entries", every: minute) { try BanMaintenance($0).purge($1) },
            MaintenanceTask("push_endpoints", every: minute) {
                // The app renews the certificate within a year, and registers at each start.
                try PushEndpointRepository.purge(registeredBefore: $0.ago(400 * day), $1, in: $0)
            },
            MaintenanceTask("outbox", every: minute) {
                try OutboxRepository($0).purge(endedBefore: $0.ago(7 * day), $1)
            },
        ]
    }

    /// Deletes messages of members who decline storage, rows of deleted streams, and the records of deletions. A device that was offline for
    /// longer synchronizes everything again.
    private static func messages() -> [MaintenanceTask] {
        [
            MaintenanceTask("delivered_messages", every: minute) {
                try StreamDeliveryRepository($0).expireDelivered($1)
            },
            MaintenanceTask("undelivered_messages", every: minute) {
                try StreamDeliveryRepository($0).expireOld($1)
            },
            MaintenanceTask("deleted_streams", every: minute) { try MessageStreamRepository($0).empty($1) },
            MaintenanceTask("stream_deletions", every: minute) {
                try StreamUserRepository($0).purgeDeletions(before: $0.ago(StreamUserRepository.keptDeletions), $1)
            },
            MaintenanceTask("message_metadata_changes", every: minute) {
                try StreamUserRepository($0).purgeMessageTags(
                    before: $0.ago(StreamUserRepository.keptDeletions), $1)
            },
            MaintenanceTask("notifications", every: minute) {
                try StreamUserRepository($0).purgeNotifications(before: $0.ago(UserNotification.lifetime), $1)
            },
            MaintenanceTask("presences", every: minute) {
                try PresenceRepository($0).purge(seenBefore: $0.ago(PresenceRepository.keptTimes), $1)
            },
            MaintenanceTask("online_users", every: minute) { try PresenceRepository($0).purgeNodes($1) },
        ]
    }

    /// Deletes contact discovery of past weeks. The keys are deleted first: without them the numbers of the entries
    /// cannot be found.
    private static func discovery() -> [MaintenanceTask] {
        [
            MaintenanceTask("discovery_keys", every: minute) { transaction, _ in
                .all(try DiscoveryKeyRepository.purge(before: .oldest(at: transaction.now), in: transaction))
            },
            MaintenanceTask("discovery_entries", every: minute) {
                try DiscoveryRepository($0).purge(before: .oldest(at: $0.now), $1)
            },
            MaintenanceTask("discovery_budgets", every: minute) { try DiscoveryRepository($0).purgeBudgets($1) },
        ]
    }
}

extension CurrentPolicy {
    /// How long ended sessions are kept, in seconds. It is longer than the lifetime of any nonce that a row was made
    /// from, under any policy, plus the margin.
    fileprivate var sessionsKept: TimeInterval {
        let policy = self[\.sessions]
        let nonce = NoncePolicy.longestLifetime + max(NoncePolicy.margin, self[\.nonces].keptAfterExpiry)
        return max(policy.absoluteLifetime + policy.renewalWindow + policy.idleLifetime, nonce)
    }

    /// How long ended authorizations are kept, in seconds. A rejection is kept as long as it forbids another request.
    fileprivate var authorizationsKept: TimeInterval {
        max(self[\.retention].endedAuthorizations, self[\.authorizations].againAfterRejection)
    }

    /// How long the records of texts are kept, in seconds.
    fileprivate var textsKept: TimeInterval { max(self[\.phones].numbersPerUserPeriod, 30 * 86_400) }
}

extension Transaction {
    /// The time that is this number of seconds before now.
    fileprivate func ago(_ seconds: TimeInterval) -> Date { now.addingTimeInterval(-seconds) }
}
