import CountersignClient
import CountersignSync
import Foundation
import Testing

@Suite("What the views show")
struct MessageViewTests {
    private static let (stream, user, other) = (UUID(), UUID(), UUID())
    private static let noon = Date(timeIntervalSince1970: 1_700_000_000)

    private static var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
        return calendar
    }

    private static func message(
        _ sequence: Int64?, day: Double = 0, isOwn: Bool = false, reply: UUID? = nil, thread: UUID? = nil,
        isDeleted: Bool = false
    ) -> ShownMessage {
        ShownMessage(
            id: UUID(), stream: stream, sequence: sequence, sender: isOwn ? user : other, isOwn: isOwn,
            sentAt: noon.addingTimeInterval(day * 86_400 + Double(sequence ?? 0)), inReplyTo: reply, thread: thread,
            isDeleted: isDeleted)
    }

    @Test("is sections by day, the newest first, with what waits on top and numbers before clocks")
    func sections() {
        let old = [Self.message(1, day: -3), Self.message(2, day: -1), Self.message(3, day: -1)]
        // Its sender's clock is two days behind.
        let slow = Self.message(4, day: -2)
        let (new, waiting) = (Self.message(5), Self.message(nil, isOwn: true))
        let sections = MessageSection.sections(of: (old + [slow, new, waiting]).shuffled(), in: Self.calendar)
        #expect(sections.flatMap(\.messages).map(\.sequence) == [nil, 5, 4, 3, 2, 1])
        #expect(sections.map(\.messages.count) == [2, 3, 1])
        #expect(sections.map(\.day) == sections.map(\.day).sorted(by: >) && Set(sections.map(\.id)).count == 3)
        #expect(MessageSection.sections(of: [], in: Self.calendar).isEmpty)
    }

    @Test("is a single message until somebody replies, then a thread, with what is unread")
    func queue() {
        let (single, head) = (Self.message(1), Self.message(2))
        let replies = [
            Self.message(4, isOwn: true, reply: head.id, thread: head.id),
            Self.message(5, reply: head.id, thread: head.id),
            Self.message(6, reply: head.id, thread: head.id, isDeleted: true),
        ]
        let own = Self.message(3, isOwn: true)
        let all = ([single, head, own] + replies).shuffled()
        let entries = QueueEntry.entries(of: all, readThrough: [Self.stream: 1])
        #expect(entries.map(\.id) == [head.id, own.id, single.id] && entries.map(\.isThread) == [true, false, false])
        #expect(entries.map(\.count) == [4, 1, 1] && entries.map(\.unread) == [2, 0, 0])
        #expect(entries[0].head == head && entries[0].last == replies[2])
        let rest = QueueEntry.entries(of: [replies[1]], readThrough: [:])
        #expect(rest.map(\.head) == [nil] && rest.map(\.isThread) == [true] && rest.map(\.unread) == [1])
    }

    private static func member(_ delivered: Int64, _ read: Int64) -> Participant {
        Participant(id: UUID(), deliveredThrough: delivered, readThrough: read)
    }

    @Test("is the status of an own message: sent, delivered to all, read by all")
    func status() {
        let cases: [(Int64?, String?, [Participant], MessageStatus)] = [
            (nil, nil, [Self.member(9, 9)], .waiting), (nil, "closed", [], .refused("closed")), (3, nil, [], .sent),
            (3, nil, [Self.member(2, 2)], .sent), (3, nil, [Self.member(3, 2)], .delivered),
            (3, nil, [Self.member(3, 3), Self.member(2, 2)], .sent),
            (3, nil, [Self.member(3, 3), Self.member(3, 2)], .delivered),
            (3, nil, [Self.member(4, 3), Self.member(5, 5)], .read),
        ]
        for (number, refusal, others, status) in cases {
            #expect(MessageStatus.of(number, refusal: refusal, others: others) == status)
        }
        #expect(Self.member(4, 2).status(of: 3) == .delivered)
    }
}
