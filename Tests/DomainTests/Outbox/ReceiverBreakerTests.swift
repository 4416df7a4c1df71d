import Domain
import Foundation
import Testing

@Suite("Receivers' rests")
struct ReceiverBreakerTests {
    private let now = Date(timeIntervalSince1970: 1_780_000_000)

    @Test("begin with the fifth failure in a row, double, and end at five minutes")
    func rests() {
        var breaker = ReceiverBreaker()
        var rests: [TimeInterval] = []
        for _ in 0..<14 {
            breaker = breaker.failed(at: now)
            rests.append(breaker.pausedUntil?.timeIntervalSince(now) ?? 0)
        }
        #expect(rests == [0, 0, 0, 0, 5, 10, 20, 40, 80, 160, 300, 300, 300, 300])
        #expect(ReceiverBreaker(failures: .max).failed(at: now).pausedUntil == now + 300)
    }

    @Test("leave two at once to who answers, one to who did not, and none to who rests")
    func room() {
        #expect((0...3).map { ReceiverBreaker().available(besides: $0, now: now) } == [2, 1, 0, 0])
        #expect((0...2).map { ReceiverBreaker(failures: 1).available(besides: $0, now: now) } == [1, 0, 0])
        let resting = ReceiverBreaker(failures: 5, pausedUntil: now + 5)
        #expect(resting.available(besides: 0, now: now) == 0)
        #expect(resting.available(besides: 0, now: now + 5) == 1)
    }
}
