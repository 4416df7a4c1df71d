import Database
import Domain
import Encoding
import Foundation
import Repositories

/// A user's device learns what has changed in the user's streams since it last asked, and waits for it.
package struct SynchronizeMessages: Sendable {
    /// Operations in one answer.
    private static let pageSize = 100
    /// About how many bytes of streams one answer has; one operation is in it in any case.
    private static let pageBytes = 262_144

    private let context: ServiceContext

    package init(_ context: ServiceContext) { self.context = context }

    /// How far a device has come, as an earlier answer said it.
    ///
    /// It names the history of the store, too: after a restore, and on a server that took over without the last
    /// commits, the numbers begin at older ones, and a device that went on from its own would miss some. And it says
    /// when it was given: deletions are not kept forever, and a device that went on from before the oldest one would
    /// keep what was deleted.
    package struct Anchor: Sendable, Equatable {
        let history: String
        let sequence: Int64
        /// Whether the end is asked for, whatever is before it.
        let isLatest: Bool
        /// When it was given, by the second.
        let givenAt: Int64

        /// The beginning: the latest state of everything.
        package static let start = Anchor(history: "", sequence: 0, at: Date(timeIntervalSince1970: 0))

        /// The end: an anchor and nothing else.
        package static let latest = Anchor(
            history: "", sequence: 0, at: Date(timeIntervalSince1970: 0), isLatest: true)

        init(history: String, sequence: Int64, at time: Date, isLatest: Bool = false) {
            self.history = history
            self.sequence = sequence
            self.isLatest = isLatest
            givenAt = time.milliseconds / 1000
        }

        /// Parses an anchor; none and `0` mean the beginning, and `latest` the end.
        ///
        /// - Throws: `Refusal` `malformed_request`.
        package init(_ text: String?) throws(Refusal) {
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
            else { throw Refusal(.malformedRequest, "anchor is neither 0 nor one that an earlier answer gave.") }
            (history, self.sequence, givenAt, isLatest) = (String(parts[0]), sequence, time, false)
        }

        private static func number(_ text: Substring) -> Int64? {
            guard text.utf8.count <= 18, let number = Int64(text), number >= 0 else { return nil }
            return number
        }

        package var text: String { "\(history).\(sequence).\(givenAt)" }

        /// Whether every deletion behind it is still kept. A transaction may be committed after the time that it notes: a day
        /// is more than enough for it.
        func isYoung(at now: Date) -> Bool {
            givenAt > now.addingTimeInterval(86_400 - StreamUserRepository.keptDeletions).milliseconds / 1000
        }
    }

    /// One change, with what there is now.
    package struct Operation: Sendable {
        package let change: UserChange
        package let stream: MessageStreamID
        /// The message that was deleted; `nil` if the whole stream was.
        package let message: MessageID?
        /// What the user sees of the stream now; `nil` if it was deleted, or a message in it was.
        package let view: MessageStreamView?
        /// What the user's provider had to say. There is no stream then.
        package var notification: (content: UserNotification, sentAt: Date)?
    }

    package struct Answer: Sendable {
        package let anchor: Anchor
        package let operations: [Operation]
        package let hasMore: Bool
        /// Who is writing at this moment.
        package var typing: [TypingNotices.Notice] = []
    }

    /// Reads the changes since an anchor. Without one it waits, and looks at the session again before it answers. A caller
    /// who gives up gets what there was: nothing.
    ///
    /// - Parameter wait: seconds; the policy's limit at most, 0 for an answer at once.
    /// - Throws: `Refusal` with the session codes; `rate_limited` if too many of the user's calls wait already.
    package func callAsFunction(since anchor: Anchor, wait: TimeInterval, for session: Session) async throws -> Answer {
        let (policy, polls) = (context.policy[\.streams], context.node.messagePolls)
        guard let place = polls.enter(session.userID, of: session.userID, limit: policy.waitingPolls) else {
            throw Refusal(
                .rateLimited, "Too many synchronizations of yours are under way: wait for their answers.",
                retryAfter: 1)
        }
        defer { polls.leave(place) }
        let (typing, user) = (context.node.typing, session.userID)
        let seat = typing.enter(user)
        defer { typing.leave(user, seat) }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(min(wait, policy.pollWait))
        while true {
            var found = try await read(anchor, session)
            found.typing = typing.take(user, seat)
            let rest = (end - clock.now) / .seconds(1)
            let isWaiting = found.operations.isEmpty && !found.hasMore && found.typing.isEmpty && !anchor.isLatest
            guard isWaiting, rest > 0 else { return found }
            await place.wait(rest)
            if Task.isCancelled { return found }
        }
    }

    /// What another store, or another server of it, has otherwise, in 16 characters at most.
    private static func history(in transaction: any Transaction) throws -> String {
        let generation = try RestoreRepository(transaction).nonceGeneration().prefix(8)
        return try String(generation + transaction.timeline().prefix(8))
    }

    private func read(_ given: Anchor, _ session: Session) async throws -> Answer {
        let lookAhead: SessionStore.Ahead = {
            let records = StreamUserRepository($0)
            _ = try (RestoreRepository($0).nonceGeneration(), records.lastChange(of: session.userID))
            _ = try records.changes(of: session.userID, after: given.sequence, limit: Self.pageSize + 1)
        }
        // An anchor that the store does not know makes it ask again.
        return try await SessionStore(context).snapshot(for: session, ahead: lookAhead) { transaction, holder in
            let records = StreamUserRepository(transaction)
            let history = try Self.history(in: transaction)
            let end = try records.lastChange(of: holder.user.id)
            let isKnown =
                given.history == history && given.isYoung(at: transaction.now) && given.sequence <= end
            let sequence = given.isLatest ? end : isKnown ? given.sequence : 0
            let entries = try records.changes(of: holder.user.id, after: sequence, limit: Self.pageSize + 1)
            let access = MessageStreamAccess(context, holder.user, in: transaction)
            let (operations, taken) = try operations(of: entries.prefix(Self.pageSize), access)
            let last = taken == 0 ? sequence : entries[taken - 1].sequence
            let hasMore = entries.count > taken
            // What is on the next page may be as old as the anchor that this one began at.
            let time =
                hasMore && isKnown ? Date(timeIntervalSince1970: TimeInterval(given.givenAt)) : transaction.now
            return Answer(
                anchor: Anchor(history: history, sequence: last, at: time), operations: operations,
                hasMore: hasMore)
        }
    }

    /// What has become of some changes, as far as it fits into a page, and how many of them are in it.
    private func operations(
        of entries: ArraySlice<StreamUserRepository.Entry>, _ access: MessageStreamAccess
    ) throws -> (operations: [Operation], taken: Int) {
        let (user, keys) = (access.user.id, context.keys.personal)
        func named(_ kinds: (UserChange) -> Bool) -> [MessageStreamID] {
            entries.filter { kinds($0.kind) }.map(\.stream)
        }
        let notified = named { $0 == .notification }.map { OutboxMessageID($0.uuid) }
        let notifications = try NotificationRepository(access.transaction, keys: keys).find(notified, of: user)
        var views = try MessageStreamViews(
            access, of: named { $0 != .notification && $0 != .deleted }, whole: Set(named { $0 == .updateTags }))
        var (operations, bytes, taken) = ([Operation](), 0, 0)
        for entry in entries where operations.isEmpty || bytes < Self.pageBytes {
            taken += 1
            guard entry.kind != .notification else {
                // One that was dropped or has expired is as if it had never been.
                guard let kept = notifications[OutboxMessageID(entry.stream.uuid)] else { continue }
                bytes += kept.content.weight
                operations.append(
                    Operation(change: entry.kind, stream: entry.stream, message: nil, view: nil, notification: kept))
                continue
            }
            let view =
                entry.kind == .deleted
                ? nil : try views.view(of: entry.stream, isWhole: entry.kind == .updateTags)
            bytes += view?.weight ?? 0
            operations.append(
                Operation(change: entry.kind, stream: entry.stream, message: entry.message, view: view))
        }
        return (operations, taken)
    }
}
