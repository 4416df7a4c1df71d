import Database
import Domain
import Repositories

/// Permission to look for people, users or their bans, by what a target names. Only ``Administration`` gives it, because
/// it records each look by a number or document.
struct PersonalLook: Sendable {
    fileprivate init() {}
}

extension Administration {
    /// Looks for people by a target, and records it if the target is a number or document. A look that finds nothing
    /// or is refused is recorded too. The entry has ids only.
    ///
    /// - Parameters:
    ///   - reason: why the admin looks.
    ///   - subjects: what the result reveals; `nil` if the operation records an act of its own.
    ///   - body: changes nothing.
    /// - Returns: a refusal as a value, because throwing it would take back the entry.
    func look<T>(
        for target: BanTarget, because reason: AuditReason?, _ events: inout RecordedEvents,
        revealing subjects: (T) -> [AuditSubject]?, _ body: (PersonalLook) throws -> T
    ) throws -> Result<T, Refusal> {
        let result: Result<T, Refusal>
        do {
            result = .success(try body(PersonalLook()))
        } catch let refusal as Refusal where refusal.code == .notFound || refusal.code == .conflict {
            result = .failure(refusal)
        }
        guard let word = target.trait else { return result }
        let revealed: [AuditSubject]? =
            switch result {
            case .success(let found): subjects(found)
            case .failure: []
            }
        guard let revealed else { return result }
        for subject in revealed.isEmpty ? [AuditSubject(.users, "none")] : revealed {
            events.record(
                .personalDataRead(subject: subject, detail: "found by \(word)"), by: actor, because: reason)
        }
        return result
    }

    /// Reads what a target leads to: in a snapshot, or in a transaction that records the look.
    func read<T: Sendable>(
        lookingFor target: BanTarget, because reason: AuditReason? = nil,
        revealing subjects: @Sendable @escaping (T) -> [AuditSubject],
        _ body: @Sendable @escaping (any Transaction, PersonalLook) throws -> T
    ) async throws -> T {
        guard target.trait != nil else { return try await read(.manage) { try body($0, PersonalLook()) } }
        return try await write(.manage) { transaction, events in
            try look(for: target, because: reason, &events, revealing: subjects) { try body(transaction, $0) }
        }.get()
    }
}

extension BanTarget {
    /// The word for a target that is a trait of a person; `nil` for an id.
    fileprivate var trait: String? {
        switch kind {
        case .phone: "number"
        case .document: "document"
        case .user, .device: nil
        }
    }
}
