import Domain
import Foundation
import Repositories

/// How the audit log words an event. Who did it, and why, is recorded with the event.
struct AuditDraft {
    let event: AuditRepository.Event
    /// An id, never a name, number or address.
    let subject: String
    let detail: String?
    /// The entry's own name, where somebody is given it.
    let id: UUID?

    init(_ event: AuditRepository.Event, _ subject: String, _ detail: String? = nil, id: UUID? = nil) {
        (self.event, self.subject, self.detail, self.id) = (event, subject, detail, id)
    }
}

extension AuditDraft {
    /// What its user, a newer session or a larger change has ended is in no entry of its own.
    static func ended(_ session: EndedSession, _ why: SessionEnding) -> AuditDraft? {
        why == .byAdmin || why == .byProvider ? AuditDraft(.sessionEnded, "session \(session.id)") : nil
    }

    static func ended(_ sessions: [EndedSession], _ gate: SessionGate, _ why: SessionEnding) -> AuditDraft? {
        guard case .user(let user) = gate, why == .byProvider, !sessions.isEmpty else { return nil }
        return AuditDraft(.sessionEnded, "user \(user)", "\(sessions.count) sessions ended")
    }

    /// How many sessions ended behind a cut whose own entry could not count them.
    static func carriedOut(_ cut: SessionCut) -> AuditDraft {
        let subject =
            switch cut.gate {
            case .user(let id): "user \(id)"
            case .device(let id): "device \(id)"
            case .provider(let id): "provider \(id)"
            case .providerKey(let id): "key \(id)"
            }
        return AuditDraft(.sessionEnded, subject, "\(cut.ended) sessions ended: \(cut.why.text)")
    }

    static func challenged(_ subject: String) -> AuditDraft { .init(.sessionChallenged, subject) }

    static func superseded(_ serial: String, by new: String) -> AuditDraft {
        .init(.certificateSuperseded, "certificate \(serial)", "by \(new)")
    }

    static func revoked(_ serial: String, _ detail: String?) -> AuditDraft {
        .init(.certificateRevoked, "certificate \(serial)", detail)
    }

    static func added(_ id: ProviderID, _ key: ProviderKeyID, _ app: ApplicationID) -> AuditDraft {
        .init(.providerAdded, "provider \(id)", "key \(key) app \(app)")
    }

    static func disabled(_ id: ProviderID) -> AuditDraft {
        .init(.providerDisabled, "provider \(id)", "its sessions end")
    }

    static func enabled(_ id: ProviderID) -> AuditDraft { .init(.providerEnabled, "provider \(id)") }

    static func changed(_ id: ProviderID, _ detail: String) -> AuditDraft {
        .init(.providerChanged, "provider \(id)", detail)
    }

    static func added(_ app: ApplicationID, to provider: ProviderID) -> AuditDraft {
        .init(.applicationAdded, "app \(app)", "provider \(provider)")
    }

    static func added(_ key: ProviderKeyID, to provider: ProviderID, _ signer: ProviderKeyID?) -> AuditDraft {
        .init(.providerKeyAdded, "key \(key)", "provider \(provider)" + (signer.map { ", signed by key \($0)" } ?? ""))
    }

    static func retired(_ key: ProviderKeyID) -> AuditDraft { .init(.providerKeyRetired, "key \(key)") }

    static func revoked(_ key: ProviderKeyID, _ detail: String) -> AuditDraft {
        .init(.providerKeyRevoked, "key \(key)", detail)
    }

    static func reassigned(_ loser: UserID) -> AuditDraft { .init(.phoneReassigned, "user \(loser)") }

    static func erased(_ user: UserID, _ receipt: UUID) -> AuditDraft {
        .init(.userErased, "user \(user)", id: receipt)
    }
}

extension AuditDraft {
    init(_ act: AuditedAct) {
        switch act {
        case .certificateIssued(let serial): self.init(.certificateIssued, "certificate \(serial)")
        case .webhookSet(let id, let key): self.init(.webhookSet, "provider \(id)", "signed by key \(key)")
        case .webhookRemoved(let id, let key): self.init(.webhookRemoved, "provider \(id)", "signed by key \(key)")
        case .eventStreamSet(let id, let provider): self.init(.eventStreamSet, "stream \(id)", "provider \(provider)")
        case .eventStreamRemoved(let id, let provider):
            self.init(.eventStreamRemoved, "stream \(id)", "provider \(provider)")
        case .eventSubjectAdded(let id, let user): self.init(.eventSubjectAdded, "stream \(id)", "user \(user)")
        case .eventSubjectRemoved(let id, let user): self.init(.eventSubjectRemoved, "stream \(id)", "user \(user)")
        case .eventStreamApproved(let id, let provider):
            self.init(.eventStreamApproved, "stream \(id)", "provider \(provider)")
        case .eventStreamDisabled(let id, let provider):
            self.init(.eventStreamDisabled, "stream \(id)", "provider \(provider)")
        case .phoneVerified(let user): self.init(.phoneVerified, "user \(user)")
        case .phoneFrozen(let user): self.init(.phoneFrozen, "user \(user)")
        case .phoneSendsStopped(let name): self.init(.phoneSendsStopped, name, "thinned out")
        case .phoneSendsResumed(let name): self.init(.phoneSendsResumed, name)
        case .identityVerified(let user, let detail): self.init(.identityVerified, "user \(user)", detail)
        case .cardInReview(let user, let card): self.init(.cardInReview, "user \(user)", "card \(card)")
        case .cardRejected(let user, let detail): self.init(.cardRejected, "user \(user)", detail)
        case .banAdded(let subject, let detail): self.init(.banAdded, subject, detail)
        case .banLifted(let id): self.init(.banLifted, "ban \(id)")
        case .banEvaded(let user, let ban, let kind):
            self.init(.banEvaded, "user \(user)", "ban \(ban), \(kind.rawValue)")
        case .personalDataRead(let subject, let detail): self.init(.personalDataRead, subject, detail)
        case .usersArchived(let archive, let detail): self.init(.usersArchived, "archive \(archive)", detail)
        case .messageDied(let id, let detail): self.init(.outboxMessageDied, "message \(id)", detail)
        case .messageRetried(let id): self.init(.outboxMessageRetried, "message \(id)")
        case .messageDropped(let id): self.init(.outboxMessageDropped, "message \(id)")
        case .wrappingKeyRotated(let version): self.init(.wrappingKeyRotated, "wrapping key \(version)")
        case .wrappingKeysRemoved(let inForce, let versions):
            self.init(.wrappingKeysRemoved, "wrapping key \(inForce)", "versions \(versions)")
        }
    }
}
