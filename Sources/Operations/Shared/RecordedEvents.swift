import Domain

/// What follows from what happened in one transaction, in its order. An engine that begins a transaction again begins with
/// none.
struct RecordedEvents {
    struct Entry {
        let consequence: Consequence
        let actor: String
        let reason: AuditReason?
    }

    private(set) var entries: [Entry] = []

    /// Notes what happened.
    ///
    /// - Parameters:
    ///   - actor: who did it, as the audit log names it; without meaning if the log keeps no entry of the event.
    ///   - reason: why, if that is not in the event.
    mutating func record(_ event: DomainEvent, by actor: String = "service", because reason: AuditReason? = nil) {
        entries.append(Entry(consequence: Consequence(of: event), actor: actor, reason: reason))
    }

    /// Notes an act that is only written down.
    mutating func record(_ act: AuditedAct, by actor: String, because reason: AuditReason? = nil) {
        entries.append(Entry(consequence: Consequence(act), actor: actor, reason: reason))
    }
}
