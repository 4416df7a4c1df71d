import Cards
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

/// A card on its last day, and after it.
extension CardTests {
    @Test(
        "lapses when its last day is over twelve hours behind UTC: the level falls back to phone, and a new card lifts it again"
    )
    func lapse() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            var short = try CardSpecimen.virginia
            short.expiry = CalendarDate(utcDayOf: fixture.clock.now + 86_400)
            try await bench.show(short, alice)
            let end = short.expiry.next.start.addingTimeInterval(12 * 3600)
            fixture.clock.advance(end.timeIntervalSince(fixture.clock.now) - 1)
            #expect(try await bench.assurance(alice) == .barcode)
            fixture.clock.advance(1)
            #expect(try await bench.assurance(alice) == .phone)
            #expect(try await fixture.opened("alice", on: fixture.connectNewDevice()).assurance == .phone)
            #expect(try await bench.show(try .virginia, alice).assurance == .barcode)
        }
    }

    @Test("still counts in the evening of its last day, when that is over in UTC")
    func evening() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            var last = try CardSpecimen.virginia
            last.expiry = CalendarDate(utcDayOf: fixture.clock.now)
            fixture.clock.advance(last.expiry.next.start.timeIntervalSince(fixture.clock.now) + 4 * 3600)
            #expect(try await bench.show(last, alice).status == .verified)
            #expect(try await bench.assurance(alice) == .barcode)
        }
    }
}
