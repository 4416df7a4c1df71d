import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Counting texts")
struct PhoneSendPlanTests {
    @Test("reads one user's requests and what went out, not the million requests of others for the same number")
    func plans() async throws {
        try await withStore(.sqlite, migrations: Schema.migrations) { store in
            let number = Value.bytes([UInt8](repeating: 1, count: 32))
            let plans = try await store.read { transaction in
                func plan(_ sql: String, _ arguments: [Value]) throws -> String {
                    try transaction.query("EXPLAIN QUERY PLAN " + sql, arguments).map { try $0.text(3) }.joined()
                }
                return (
                    try plan(PhoneSendRepository.askedByUser, [.text("user"), number, .integer(0)]),
                    try plan(PhoneSendRepository.sentToNumber, [number, .integer(0), .integer(0), .integer(0)])
                )
            }
            #expect(
                plans.0.contains("phone_sends_by_user_and_number (user_id=? AND number_index=? AND at>?)"), "\(plans)")
            #expect(plans.1.contains("phone_sends_sent_by_number (number_index=? AND by_owner=? AND at>?)"), "\(plans)")
        }
    }

    @Test("A counter has one row for five minutes, and a look at a day reads at most 288 of them")
    func steps() async throws {
        try await withStore(migrations: Schema.migrations) { store in
            try await store.write { transaction in
                let tallies = PhoneTallyRepository(transaction)
                for minute in 0..<3000 {
                    try tallies.add(
                        sends: 1, verified: minute % 2, to: ["country US new"],
                        at: transaction.now.addingTimeInterval(-60 * Double(minute)))
                }
            }
            let (rows, tally) = try await store.read { transaction in
                (
                    try transaction.query("SELECT step FROM phone_tallies").count,
                    try PhoneTallyRepository(transaction).find(["country US new", "none"])
                )
            }
            // The time of the test begins a step: the present one holds one minute, the others five.
            #expect(rows == 601)
            #expect(tally.count == 1)
            #expect(tally["country US new"]?.hour.sends == 56)
            #expect(tally["country US new"]?.day.sends == 1436)
            #expect(tally["country US new"]?.day.verified == 718)
        }
    }
}
