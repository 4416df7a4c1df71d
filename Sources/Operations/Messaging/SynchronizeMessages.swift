import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Service.SyncAnchor {
    /// Parses an anchor. A missing one and `0` mean the beginning, and `latest` the end.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    init(_ text: String?) throws(Refusal) {
        guard let text, text != "0" else {
            self = .start
            return
        }
        guard text != "latest" else {
            self = .latest
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count <= 16, let sequence = Self.number(parts[1]),
            let time = Self.number(parts[2])
        else { throw Refusal.unknownAnchor }
        (history, self.sequence, givenAt, isLatest) = (String(parts[0]), sequence, time, false)
    }

    private static func number(_ text: Substring) -> Int64? {
        guard text.utf8.count <= 18, let number = Int64(text), number >= 0 else { return nil }
        return number
    }

    var text: String { "\(history).\(sequence).\(givenAt)" }
}

package extension Service {
    /// One change, with the current state.
    struct SyncOperation: Sendable {
        package let change: UserChange
        package let stream: MessageStreamID
        /// The message that was deleted, or whose metadata changed; `nil` for a change of the stream.
        package let message: MessageID?
        /// The user's current view of the stream; `nil` if it was deleted, and for a change of a message.
        package let view: MessageStreamView?
        /// The message's current metadata; `nil` unless they changed.
        package var metadata: MessageMetadataView?
        /// A notification of the user's provider. Then there is no stream.
        package var notification: (content: UserNotification, sentAt: Date)?
    }

    /// The position of a device, as returned by an earlier response.
    ///
    /// It also names the history of the store. After a restore, or on a server that took over without the last commits,
    /// numbers start again at a lower value. A device that continued from its own number would miss changes.
    ///
    /// It also has the time when it was returned. Deletions are not kept for ever, and a device with a position before the
    /// oldest one would keep deleted messages.
    struct SyncAnchor: Sendable, Equatable {
        let history: String
        let sequence: Int64
        /// Whether only the end is requested.
        let isLatest: Bool
        /// When it was returned, in seconds since 1970.
        let givenAt: Int64

        /// The beginning: the latest state of everything.
        static let start = SyncAnchor(history: "", sequence: 0, at: Date(timeIntervalSince1970: 0))

        /// The end: only an anchor is returned.
        static let latest = SyncAnchor(
            history: "", sequence: 0, at: Date(timeIntervalSince1970: 0), isLatest: true)

        init(history: String, sequence: Int64, at time: Date, isLatest: Bool = false) {
            self.history = history
            self.sequence = sequence
            self.isLatest = isLatest
            givenAt = time.milliseconds / 1000
        }

        /// Whether all deletions after it are still stored. A transaction may commit later than its time, for which a
        /// margin of a day is more than enough.
        func isYoung(at now: Date) -> Bool {
            givenAt > now.addingTimeInterval(86_400 - StreamUserRepository.keptDeletions).milliseconds / 1000
        }
    }

    struct SyncAnswer: Sendable {
        /// The number of operations in one response.
        static let size = 100
        /// The approximate maximum of bytes of streams in one response, which has at least one operation.
        static let bytes = 262_144

        package let anchor: SyncAnchor
        package let operations: [SyncOperation]
        package let hasMore: Bool
        /// Members who are typing now.
        package var typing: [TypingNotices.Notice] = []
        /// The users that the call watches, as they are now.
        package var presence: [UserPresence] = []
    }

    /// Reads the changes in the user's streams since an anchor. Without a change it waits, and checks the session again
    /// before it returns. A caller who disconnects gets an empty response.
    ///
    /// - Parameters:
    ///   - wait: the maximum wait in seconds, within the policy's limit; 0 returns at once. The user is online while a
    ///     call waits.
    ///   - watched: users whose presence is returned. The wait also ends when one of them comes online or goes offline.
    /// - Throws: `Refusal` with the session codes; `rate_limited` if too many calls of the user wait already.
    func synchronizeMessages(
        since anchor: SyncAnchor, wait: TimeInterval, presenceOf watched: PresenceQuestion = .nobody,
        for session: Session
    ) async throws -> SyncAnswer {
        let (policy, polls) = (policy[\.streams], node.messagePolls)
        guard let place = polls.enter(Set(session.subjects), of: session.userID, limit: policy.waitingPolls) else {
            throw Refusal.tooManySynchronizations
        }
        defer { polls.leave(place) }
        let (typing, user) = (node.typing, session.userID)
        let seat = typing.enter(user)
        defer { typing.leave(user, seat) }
        let (online, watches) = (node.online, node.presenceWatches)
        if wait > 0 { online.enter(user) }
        defer { if wait > 0 { online.leave(user) } }
        let watch = watches.enter(user, of: watched.users)
        defer { watches.leave(watch) }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(min(wait, policy.pollWait))
        var first: Set<UserID>?
        while true {
            var found = try await readChanges(since: anchor, session)
            found.typing = typing.take(user, seat)
            let seen = try await seePresence(watched, for: session)
            found.presence = seen.presences
            watches.narrow(watch, to: seen.visible)
            let isUnchanged = seen.online == first ?? seen.online
            first = first ?? seen.online
            let rest = (end - clock.now) / .seconds(1)
            let isWaiting =
                found.operations.isEmpty && !found.hasMore && found.typing.isEmpty && isUnchanged && !anchor.isLatest
            guard isWaiting, rest > 0 else { return found }
            await place.wait(rest)
            if Task.isCancelled { return found }
        }
    }

    /// A text of at most 16 characters that differs for another store and after a failover.
    private static func history(in transaction: any Transaction) throws -> String {
        let generation = try RestoreRepository(transaction).nonceGeneration().prefix(8)
        return try String(generation + transaction.timeline().prefix(8))
    }

    private func readChanges(since given: SyncAnchor, _ session: Session) async throws -> SyncAnswer {
        let lookAhead: SessionHolder.Ahead = {
            let records = StreamUserRepository($0)
            _ = try (RestoreRepository($0).nonceGeneration(), records.lastChange(of: session.userID))
            _ = try records.changes(of: session.userID, after: given.sequence, limit: SyncAnswer.size + 1)
        }
        // If the store does not know the anchor, the query is repeated with another one.
        return try await read(for: session, ahead: lookAhead) { transaction, holder in
            let records = StreamUserRepository(transaction)
            let history = try Self.history(in: transaction)
            let end = try records.lastChange(of: holder.user.id)
            let isKnown =
                given.history == history && given.isYoung(at: transaction.now) && given.sequence <= end
            let sequence = given.isLatest ? end : isKnown ? given.sequence : 0
            let entries = try records.changes(of: holder.user.id, after: sequence, limit: SyncAnswer.size + 1)
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let (operations, taken) = try operations(of: entries.prefix(SyncAnswer.size), access)
            let last = taken == 0 ? sequence : entries[taken - 1].sequence
            let hasMore = entries.count > taken
            // Changes on the next page may be as old as this page's own anchor.
            let time =
                hasMore && isKnown ? Date(timeIntervalSince1970: TimeInterval(given.givenAt)) : transaction.now
            return SyncAnswer(
                anchor: SyncAnchor(history: history, sequence: last, at: time), operations: operations,
                hasMore: hasMore)
        }
    }

    /// The current state for some changes, as far as it fits into a page, and the number of these changes.
    private func operations(
        of entries: ArraySlice<StreamUserRepository.Entry>, _ access: MessageStreamAccess
    ) throws -> (operations: [SyncOperation], taken: Int) {
        let (user, keys) = (access.user.id, keys.personal)
        func named(_ isNamed: (StreamUserRepository.Entry) -> Bool) -> [MessageStreamID] {
            entries.filter(isNamed).map(\.stream)
        }
        let notified = named { $0.kind == .notification }.map { OutboxMessageID($0.uuid) }
        let notifications = try NotificationRepository(access.transaction, keys: keys).find(notified, of: user)
        var views = try MessageStreamViews(
            access, of: named { $0.kind != .notification && $0.kind != .deleted },
            whole: Set(named { $0.kind == .updateTags && $0.message == nil }))
        let changed = try ChangedMessageMetadata(access, of: entries)
        var (operations, bytes, taken) = ([SyncOperation](), 0, 0)
        for entry in entries where operations.isEmpty || bytes < SyncAnswer.bytes {
            taken += 1
            guard entry.kind != .notification else {
                // A notification that was dropped or has expired is skipped.
                guard let kept = notifications[OutboxMessageID(entry.stream.uuid)] else { continue }
                bytes += kept.content.weight
                operations.append(
                    SyncOperation(change: entry.kind, stream: entry.stream, message: nil, view: nil, notification: kept)
                )
                continue
            }
            if entry.kind == .updateTags, entry.message != nil {
                guard let metadata = try changed.view(for: entry, &views) else { continue }
                bytes += metadata.weight
                operations.append(
                    SyncOperation(
                        change: entry.kind, stream: entry.stream, message: entry.message, view: nil,
                        metadata: metadata))
                continue
            }
            let view =
                entry.kind == .deleted
                ? nil : try views.view(of: entry.stream, isWhole: entry.kind == .updateTags)
            bytes += view?.weight ?? 0
            operations.append(
                SyncOperation(change: entry.kind, stream: entry.stream, message: entry.message, view: view))
        }
        return (operations, taken)
    }
}
