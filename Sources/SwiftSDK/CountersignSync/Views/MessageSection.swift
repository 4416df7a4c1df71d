import Foundation

/// The messages of one day.
public struct MessageSection: Sendable, Hashable, Identifiable {
    /// The start of the day.
    public let day: Date
    public let messages: [ShownMessage]

    public var id: Date { day }

    /// Messages by day, newest day first. A message that waits for the service is newer than numbered ones. Numbered
    /// ones are ordered by number, because clocks differ.
    public static func sections(of messages: [ShownMessage], in calendar: Calendar = .current) -> [MessageSection] {
        var days: [(day: Date, messages: [ShownMessage])] = []
        for message in messages.sorted(by: isNewer) {
            // A day occurs once, even if a device's clock was wrong.
            let day = min(calendar.startOfDay(for: message.sentAt), days.last?.day ?? .distantFuture)
            if days.last?.day != day { days.append((day, [])) }
            days[days.count - 1].messages.append(message)
        }
        return days.map { MessageSection(day: $0.day, messages: $0.messages) }
    }

    static func isNewer(_ one: ShownMessage, _ other: ShownMessage) -> Bool {
        switch (one.sequence, other.sequence) {
        case (let first?, let second?): first > second
        case (nil, _?): true
        case (_?, nil): false
        case (nil, nil): (one.sentAt, one.id.uuidString) > (other.sentAt, other.id.uuidString)
        }
    }
}

/// A page of a conversation.
public struct MessagePage: Sendable, Hashable {
    public let sections: [MessageSection]
    /// The parameter for loading more: the number before which there are older messages; `nil` at the first message.
    public let before: Int64?
    /// Whether older messages must be fetched first: see ``LocalStreams/loadEarlier(in:)``.
    public let isFetchNeeded: Bool
}

/// One row of the queue of messages: a single message, or a thread.
public struct QueueEntry: Sendable, Hashable, Identifiable {
    /// A message without replies, or the first message of a thread; `nil` if it is not on the device.
    public let head: ShownMessage?
    /// The newest message of the thread.
    public let last: ShownMessage
    /// The number of local messages: 1 is a single message, more are a thread.
    public let count: Int
    /// The number of others' unread messages.
    public let unread: Int

    public var id: UUID { last.thread }
    public var isThread: Bool { last.inReplyTo != nil || count > 1 }

    /// Messages by thread, newest first.
    ///
    /// - Parameter readThrough: the user's last read number, by stream.
    public static func entries(of messages: [ShownMessage], readThrough: [UUID: Int64]) -> [QueueEntry] {
        var threads: [UUID: [ShownMessage]] = [:]
        for message in messages { threads[message.thread, default: []].append(message) }
        let entries = threads.compactMap { thread, messages -> QueueEntry? in
            guard let last = messages.min(by: MessageSection.isNewer) else { return nil }
            let unread = messages.count { message in
                !message.isOwn && !message.isDeleted
                    && (message.sequence ?? 0) > readThrough[message.stream, default: 0]
            }
            return QueueEntry(
                head: messages.first { $0.id == thread }, last: last, count: messages.count, unread: unread)
        }
        return entries.sorted {
            ($0.last.sentAt, $0.last.sequence ?? .max, $0.id.uuidString)
                > ($1.last.sentAt, $1.last.sequence ?? .max, $1.id.uuidString)
        }
    }
}
