import Domain
import Encoding
import Foundation
import Repositories

/// The consequences of an event, and its form in the audit log: the only table.
///
/// The audit entry, the entries of the change log and the security events are written in the transaction. After the
/// commit the same changes are applied to the caches and connections of this process (``ServingNode``), and of every
/// other node that reads them. The outbox is woken.
struct Consequence {
    var audit: AuditedAct?
    /// Changes for every node, including this one.
    var notices: [ChangeLog.Change] = []
    /// Changes for every node that this node, too, reads from the change log, because applying them twice shows.
    var announced: [ChangeLog.Change] = []
    /// Changes for this node only.
    var here: [ChangeLog.Change] = []
    /// Events for the user's provider (RFC 8417).
    var securityEvents: [SecurityEvent] = []
    /// Streams whose receivers may be waiting for events.
    var streams: Set<EventStreamID> = []
    /// The session that this node may cache.
    var opened: Session?
    var wakesOutbox = false
    /// Whether rows of ended sessions must still be updated.
    var leavesRows = false

    struct SecurityEvent {
        let event: ProviderEvent
        let user: UserID
        let provider: ProviderID
    }

    init(
        _ audit: AuditedAct? = nil, notices: [ChangeLog.Change] = [], announced: [ChangeLog.Change] = [],
        here: [ChangeLog.Change] = [],
        securityEvents: [SecurityEvent] = [], streams: Set<EventStreamID> = [], opened: Session? = nil,
        wakesOutbox: Bool = false, leavesRows: Bool = false
    ) {
        (self.audit, self.notices, self.announced, self.here) = (audit, notices, announced, here)
        (self.securityEvents, self.streams, self.opened) = (securityEvents, streams, opened)
        (self.wakesOutbox, self.leavesRows) = (wakesOutbox, leavesRows)
    }

    init(of event: DomainEvent) {
        switch event {
        case .sessionOpened(let session): self.init(opened: session)
        case .sessionRenewed(let session, let old): self.init(notices: [.session(old)], opened: session)
        case .sessionEnded(let ended, let why):
            self.init(
                .ended(ended, why), notices: [.session(ended.tokenHash)],
                securityEvents: .revoked([ended]))
        case .sessionsRevoked(let scope, let ended, let why, let isWhole):
            self.init(
                .ended(ended, scope, why), notices: [.about(scope)], securityEvents: .revoked(ended),
                leavesRows: !isWhole)
        case .sessionsEndedInBatch(let ended): self.init(securityEvents: .revoked(ended))
        case .bulkRevocationEnded(let cut):
            self.init(
                AuditedAct(
                    .sessionEnded, AuditSubject(cut.scope), "\(cut.ended.counting("session")) ended: \(cut.why.text)"))
        case .sessionChallenged(let session):
            self.init(
                AuditedAct(.sessionChallenged, AuditSubject(.session, session.id)),
                notices: [.session(session.tokenHash)])
        case .bindingMismatched(let session):
            self.init(
                AuditedAct(.bindingMismatch, AuditSubject(.session, session.id)), notices: [.session(session.tokenHash)]
            )
        case .userChallenged(let user):
            self.init(AuditedAct(.sessionChallenged, AuditSubject(.user, user)), notices: [.user(user)])
        case .certificateSeen(let device): self.init(here: [.device(device)])
        case .certificateSuperseded(let old, let new, let device):
            self.init(
                AuditedAct(.certificateSuperseded, AuditSubject(.certificate, old), "by \(new)"),
                notices: [.device(device)])
        case .certificateRevoked(let serial, let device, let detail):
            self.init(
                AuditedAct(.certificateRevoked, AuditSubject(.certificate, serial), detail), notices: [.device(device)])
        case .deviceDistrusted(let device, let action):
            self.init(
                AuditedAct(.deviceDistrusted, AuditSubject(.device, device), action.rawValue),
                notices: [.device(device)])
        case .userAttestationRevoked(let serial, let user, let provider):
            self.init(
                securityEvents: [.init(event: .attestationRevoked(serial: serial), user: user, provider: provider)])
        case .userCertificateRevoked(let serial, let user, let provider):
            self.init(
                securityEvents: [.init(event: .certificateRevoked(serial: serial), user: user, provider: provider)])
        case .providerAdded(let id, let key, let app):
            self.init(
                AuditedAct(.providerAdded, AuditSubject(.provider, id), "key \(key) app \(app)"),
                notices: [.provider(id)])
        case .providerDisabled(let id):
            self.init(
                AuditedAct(.providerDisabled, AuditSubject(.provider, id), "its sessions end"), notices: [.provider(id)]
            )
        case .providerEnabled(let id):
            self.init(AuditedAct(.providerEnabled, AuditSubject(.provider, id)), notices: [.provider(id)])
        case .providerChanged(let id, let detail):
            self.init(AuditedAct(.providerChanged, AuditSubject(.provider, id), detail), notices: [.providerKeys(id)])
        case .applicationAdded(let app, let id):
            self.init(
                AuditedAct(.applicationAdded, AuditSubject(.app, app), "provider \(id)"), notices: [.providerKeys(id)])
        case .providerKeyAdded(let key, let id, let signer):
            let signature = signer.map { ", signed by key \($0)" } ?? ""
            self.init(
                AuditedAct(.providerKeyAdded, AuditSubject(.key, key), "provider \(id)" + signature),
                notices: [.providerKeys(id)])
        case .providerKeyRetired(let key, let id):
            self.init(AuditedAct(.providerKeyRetired, AuditSubject(.key, key)), notices: [.providerKeys(id)])
        case .providerKeyRevoked(let key, let id, let detail):
            self.init(AuditedAct(.providerKeyRevoked, AuditSubject(.key, key), detail), notices: [.providerKeys(id)])
        case .assuranceChanged(let change):
            self.init(notices: [.userLevel(change.userID)], securityEvents: .changed(change))
        case .ageProven(let user, let provider, let proof):
            self.init(
                AuditedAct(.ageProven, AuditSubject(.user, user)), notices: [.userLevel(user)],
                securityEvents: [.init(event: .ageProven(proof), user: user, provider: provider)])
        case .phoneReassigned(let loser):
            self.init(AuditedAct(.phoneReassigned, AuditSubject(.user, loser)), notices: [.user(loser)])
        case .userErased(let id, let provider, let receipt):
            self.init(
                AuditedAct(.userErased, AuditSubject(.user, id), id: receipt), notices: [.user(id), .userLevel(id)],
                securityEvents: .account(.accountPurged, id, provider))
        case .userBanned(let id, let provider):
            self.init(notices: [.bannedUser(id)], securityEvents: .account(.accountDisabled, id, provider))
        case .userUnbanned(let id, let provider):
            self.init(notices: [.user(id)], securityEvents: .account(.accountEnabled, id, provider))
        case .deviceBanned(let id), .deviceUnbanned(let id): self.init(notices: [.device(id)])
        case .administratorAdded(let one):
            self.init(.changed(one, .administratorAdded), notices: [.administrator(one.id)])
        case .administratorRemoved(let one):
            self.init(.changed(one, .administratorRemoved), notices: [.administrator(one.id)])
        case .administratorRenewed(let one):
            self.init(.changed(one, .administratorRenewed), notices: [.administrator(one.id)])
        case .messageQueued: self.init(wakesOutbox: true)
        case .eventsWait(let stream): self.init(streams: [stream], wakesOutbox: true)
        case .messagesChanged(let users): self.init(notices: [.messages(users)])
        case .typing(let stream, let user, let others): self.init(announced: [.typing(stream, user, others)])
        case .presenceChanged(let users): self.init(notices: [.presence(users)])
        }
    }
}

extension ChangeLog.Change {
    /// The change for all sessions of a scope.
    fileprivate static func about(_ scope: RevocationScope) -> Self {
        switch scope {
        case .user(let id): .user(id)
        case .device(let id): .device(id)
        case .provider(let id): .provider(id)
        case .providerKey(let id): .providerKey(id)
        }
    }
}

extension AuditedAct {
    /// A session has no separate entry if its user, a newer session or a larger change ended it.
    fileprivate static func ended(_ session: EndedSession, _ why: SessionEnding) -> AuditedAct? {
        why == .byAdmin || why == .byProvider ? AuditedAct(.sessionEnded, AuditSubject(.session, session.id)) : nil
    }

    fileprivate static func ended(_ sessions: [EndedSession], _ scope: RevocationScope, _ why: SessionEnding)
        -> AuditedAct?
    {
        guard case .user(let user) = scope, why == .byAdmin || why == .byProvider && !sessions.isEmpty else {
            return nil
        }
        return AuditedAct(.sessionEnded, AuditSubject(.user, user), "\(sessions.count.counting("session")) ended")
    }
}

extension AuditedAct {
    fileprivate static func changed(_ one: Administrator, _ event: AuditRepository.Event) -> AuditedAct {
        let account = one.account.map { ", account \($0)" } ?? ""
        return AuditedAct(
            event, AuditSubject(.administrator, one.id), "\(one.name), role \(one.role.rawValue)\(account)")
    }
}

extension AuditSubject {
    fileprivate init(_ scope: RevocationScope) {
        switch scope {
        case .user(let id): self.init(.user, id)
        case .device(let id): self.init(.device, id)
        case .provider(let id): self.init(.provider, id)
        case .providerKey(let id): self.init(.key, id)
        }
    }
}

extension [Consequence.SecurityEvent] {
    fileprivate static func revoked(_ ended: [EndedSession]) -> Self {
        ended.map { .init(event: .sessionRevoked($0.id), user: $0.userID, provider: $0.providerID) }
    }

    fileprivate static func changed(_ change: Assurance.Change) -> Self {
        guard change.from != change.to else { return [] }
        let event = ProviderEvent.assuranceLevelChanged(from: change.from, to: change.to)
        return [.init(event: event, user: change.userID, provider: change.providerID)]
    }

    fileprivate static func account(_ event: ProviderEvent, _ user: UserID, _ provider: ProviderID?) -> Self {
        provider.map { [.init(event: event, user: user, provider: $0)] } ?? []
    }
}
