import Domain
import Foundation
import Repositories

/// How the audit log words an event. Who did it, and why, is recorded with the event.
struct AuditDraft {
    let event: AuditRepository.Event
    let subject: AuditSubject
    let detail: String?
    /// The entry's own name, where somebody is given it.
    let id: UUID?

    init(_ event: AuditRepository.Event, _ subject: AuditSubject, _ detail: String? = nil, id: UUID? = nil) {
        (self.event, self.subject, self.detail, self.id) = (event, subject, detail, id)
    }
}

extension AuditDraft {
    /// What its user, a newer session or a larger change has ended is in no entry of its own.
    static func ended(_ session: EndedSession, _ why: SessionEnding) -> AuditDraft? {
        why == .byAdmin || why == .byProvider ? AuditDraft(.sessionEnded, AuditSubject(.session, session.id)) : nil
    }

    static func ended(_ sessions: [EndedSession], _ gate: SessionGate, _ why: SessionEnding) -> AuditDraft? {
        guard case .user(let user) = gate, why == .byProvider, !sessions.isEmpty else { return nil }
        return AuditDraft(.sessionEnded, AuditSubject(.user, user), "\(sessions.count) sessions ended")
    }

    /// How many sessions ended behind a cut whose own entry could not count them.
    static func carriedOut(_ cut: SessionCut) -> AuditDraft {
        let subject =
            switch cut.gate {
            case .user(let id): AuditSubject(.user, id)
            case .device(let id): AuditSubject(.device, id)
            case .provider(let id): AuditSubject(.provider, id)
            case .providerKey(let id): AuditSubject(.key, id)
            }
        return AuditDraft(.sessionEnded, subject, "\(cut.ended) sessions ended: \(cut.why.text)")
    }

    static func challenged(_ subject: AuditSubject) -> AuditDraft { .init(.sessionChallenged, subject) }

    static func superseded(_ serial: String, by new: String) -> AuditDraft {
        .init(.certificateSuperseded, AuditSubject(.certificate, serial), "by \(new)")
    }

    static func revoked(_ serial: String, _ detail: String?) -> AuditDraft {
        .init(.certificateRevoked, AuditSubject(.certificate, serial), detail)
    }

    static func added(_ id: ProviderID, _ key: ProviderKeyID, _ app: ApplicationID) -> AuditDraft {
        .init(.providerAdded, AuditSubject(.provider, id), "key \(key) app \(app)")
    }

    static func disabled(_ id: ProviderID) -> AuditDraft {
        .init(.providerDisabled, AuditSubject(.provider, id), "its sessions end")
    }

    static func enabled(_ id: ProviderID) -> AuditDraft { .init(.providerEnabled, AuditSubject(.provider, id)) }

    static func changed(_ id: ProviderID, _ detail: String) -> AuditDraft {
        .init(.providerChanged, AuditSubject(.provider, id), detail)
    }

    static func added(_ app: ApplicationID, to provider: ProviderID) -> AuditDraft {
        .init(.applicationAdded, AuditSubject(.app, app), "provider \(provider)")
    }

    static func added(_ key: ProviderKeyID, to provider: ProviderID, _ signer: ProviderKeyID?) -> AuditDraft {
        .init(
            .providerKeyAdded, AuditSubject(.key, key),
            "provider \(provider)" + (signer.map { ", signed by key \($0)" } ?? ""))
    }

    static func retired(_ key: ProviderKeyID) -> AuditDraft { .init(.providerKeyRetired, AuditSubject(.key, key)) }

    static func revoked(_ key: ProviderKeyID, _ detail: String) -> AuditDraft {
        .init(.providerKeyRevoked, AuditSubject(.key, key), detail)
    }

    static func reassigned(_ loser: UserID) -> AuditDraft { .init(.phoneReassigned, AuditSubject(.user, loser)) }

    static func erased(_ user: UserID, _ receipt: UUID) -> AuditDraft {
        .init(.userErased, AuditSubject(.user, user), id: receipt)
    }
}

extension AuditDraft {
    init(_ act: AuditedAct) {
        switch act {
        case .certificateIssued(let serial): self.init(.certificateIssued, AuditSubject(.certificate, serial))
        case .webhookSet(let id, let key): self.init(.webhookSet, AuditSubject(.provider, id), "signed by key \(key)")
        case .webhookRemoved(let id, let key):
            self.init(
                .webhookRemoved, AuditSubject(.provider, id),
                key.map { "signed by key \($0)" } ?? "the receiver is gone")
        case .eventStreamSet(let id, let provider):
            self.init(.eventStreamSet, AuditSubject(.stream, id), "provider \(provider)")
        case .eventStreamRemoved(let id, let provider):
            self.init(.eventStreamRemoved, AuditSubject(.stream, id), "provider \(provider)")
        case .eventSubjectAdded(let id, let user):
            self.init(.eventSubjectAdded, AuditSubject(.stream, id), "user \(user)")
        case .eventSubjectRemoved(let id, let user):
            self.init(.eventSubjectRemoved, AuditSubject(.stream, id), "user \(user)")
        case .eventStreamApproved(let id, let provider):
            self.init(.eventStreamApproved, AuditSubject(.stream, id), "provider \(provider)")
        case .eventStreamDisabled(let id, let provider):
            self.init(.eventStreamDisabled, AuditSubject(.stream, id), "provider \(provider)")
        case .phoneVerified(let user): self.init(.phoneVerified, AuditSubject(.user, user))
        case .phoneFrozen(let user): self.init(.phoneFrozen, AuditSubject(.user, user))
        case .phoneSendsStopped(let name):
            self.init(.phoneSendsStopped, AuditSubject(scopeOfTexts: name), "thinned out")
        case .phoneSendsResumed(let name): self.init(.phoneSendsResumed, AuditSubject(scopeOfTexts: name))
        case .identityVerified(let user, let detail): self.init(.identityVerified, AuditSubject(.user, user), detail)
        case .cardInReview(let user, let card): self.init(.cardInReview, AuditSubject(.user, user), "card \(card)")
        case .cardRejected(let user, let detail): self.init(.cardRejected, AuditSubject(.user, user), detail)
        case .banAdded(let subject, let detail): self.init(.banAdded, subject, detail)
        case .banLifted(let id): self.init(.banLifted, AuditSubject(.ban, id))
        case .banEvaded(let user, let ban, let kind):
            self.init(.banEvaded, AuditSubject(.user, user), "ban \(ban), \(kind.rawValue)")
        case .personalDataRead(let subject, let detail): self.init(.personalDataRead, subject, detail)
        case .usersArchived(let archive, let detail): self.init(.usersArchived, AuditSubject(.archive, archive), detail)
        case .messageDied(let id, let detail): self.init(.outboxMessageDied, AuditSubject(.message, id), detail)
        case .messageRetried(let id): self.init(.outboxMessageRetried, AuditSubject(.message, id))
        case .messageDropped(let id): self.init(.outboxMessageDropped, AuditSubject(.message, id))
        case .wrappingKeyRotated(let version): self.init(.wrappingKeyRotated, AuditSubject(.wrappingKey, version))
        case .wrappingKeysRemoved(let inForce, let versions):
            self.init(.wrappingKeysRemoved, AuditSubject(.wrappingKey, inForce), "versions \(versions)")
        }
    }
}
