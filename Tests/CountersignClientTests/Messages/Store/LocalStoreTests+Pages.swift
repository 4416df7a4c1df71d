import CountersignClient
import CountersignSync
import Fixtures
import Foundation
import Testing

extension LocalStoreTests {
    @Test("lists every conversation by pages, whatever moves between two of them", arguments: 0..<12)
    func pages(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let local = try await local()
        let streams = (0..<12).map { _ in UUID() }
        for (number, stream) in streams.enumerated() {
            let time = Self.now.addingTimeInterval(Double(number))
            try await local.open(StreamOpening(.conversation, members: [], id: stream), now: time)
        }
        var found: [UUID] = []
        var position: ConversationPage.Position?
        // A message may arrive late, so it moves a conversation to any place. The seed 0 moves nothing.
        for round in 0..<40 {
            let page = try await local.conversationPage(after: position, limit: 3)
            let ids = page.rows.map(\.id)
            #expect(ids.count <= 3 && Set(ids).count == ids.count)
            found += ids
            position = page.next
            if position == nil { break }
            for _ in 0..<(round < 20 ? min(seed, 5) : 0) {
                let time = Self.now.addingTimeInterval(Double.random(in: 0..<20, using: &random))
                let stream = try #require(streams.randomElement(using: &random))
                try await local.send(NewMessage([.text("x")]), to: stream, now: time)
            }
        }
        #expect(position == nil && Set(found) == Set(streams))
        if seed == 0 { #expect(found == streams.reversed()) }
    }

    @Test("puts a conversation that moved on the next page, with its new place")
    func moved() async throws {
        let local = try await local()
        let streams = (0..<5).map { _ in UUID() }
        for (number, stream) in streams.enumerated() {
            let time = Self.now.addingTimeInterval(Double(number))
            try await local.open(StreamOpening(.conversation, members: [], id: stream), now: time)
        }
        let first = try await local.conversationPage(limit: 2)
        #expect(first.rows.map(\.id) == [streams[4], streams[3]])
        // Its new place is between the two rows of the first page.
        let message = NewMessage([.text("late")])
        try await local.send(message, to: streams[0], now: Self.now.addingTimeInterval(3.5))
        let second = try await local.conversationPage(after: first.next, limit: 2)
        #expect(second.rows.map(\.id) == [streams[0], streams[2]] && second.rows.first?.last?.id == message.id)
        let third = try await local.conversationPage(after: second.next, limit: 2)
        #expect(third.rows.map(\.id) == [streams[1]] && third.next == nil)
        #expect(try await local.conversations().map(\.id) == [4, 0, 3, 2, 1].map { streams[$0] })
    }
}
