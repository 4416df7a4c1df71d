import Foundation
import Testing

@testable import Operations

@Suite("The turns of a call")
struct CallTurnTests {
    @Test("are an offer of the caller, then one answer of the other side, within the time that it rings")
    func table() {
        for (number, isCaller, age, expected) in [
            (1, true, 0.0, CallTurn.allowed), (1, true, 60, .allowed), (1, true, 60.1, .missed),
            (1, false, 0, .others), (1, false, 61, .others), (2, false, 0, .allowed), (2, false, 60, .allowed),
            (2, false, 61, .missed), (2, true, 0, .others), (3, false, 0, .answered), (3, true, 0, .answered),
            (.max, false, 99, .answered), (0, true, 0, .others),
        ] as [(Int64, Bool, TimeInterval, CallTurn)] {
            let turn = CallTurn(number: number, isCaller: isCaller, age: age, ringing: 60)
            #expect(turn == expected, "\(number) \(isCaller) \(age)")
        }
    }
}
