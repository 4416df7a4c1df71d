import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// What requests of different users read and change in common, by 24 callers of two nodes at once.
@Suite("Callers who meet in the same rows")
struct HotRowTests {
    private static let callers = 24

    /// Makes calls at once after as many others, by which the nodes learn that they meet.
    ///
    /// - Returns: what the second half gave. At most every fifth of it was taken back because of others.
    private static func meet<T: Sendable>(
        in stores: [any Database], _ call: @Sendable @escaping (_ number: Int) async throws -> T
    ) async throws -> [T] {
        func all(_ numbers: Range<Int>) async throws -> [T] {
            try await withThrowingTaskGroup(of: T.self) { tasks in
                for number in numbers { tasks.addTask { try await call(number) } }
                var all: [T] = []
                for try await one in tasks { all.append(one) }
                return all
            }
        }
        _ = try await all(0..<callers)
        let servers = stores.compactMap { $0 as? PostgreSQLDatabase }
        let before = servers.map(\.repetitions).reduce(0, +)
        let answers = try await all(callers..<2 * callers)
        #expect(servers.map(\.repetitions).reduce(0, +) - before <= callers / 5)
        return answers
    }

    @Test("start phone verifications: no text beyond the day's limit, and none uncounted", arguments: StoreKind.shared)
    func phones(kind: StoreKind) async throws {
        var policy = Policy()
        policy.phones.sendsPerHourPerSender.perAddress = 1000
        (policy.phones.unverifiedPerHourPerGroup, policy.phones.unverifiedPerDayPerGroup) = (1000, 1000)
        (policy.phones.unverifiedPerHourPerPrefix, policy.phones.unverifiedPerDayPerPrefix) = (1000, 1000)
        policy.phones.sendsPerHourPerPrefix = 1000
        (policy.phones.breakerSends, policy.phones.spendReservedPercent) = (1000, 0)
        policy.phones.spendTrustedPercent = 0
        (policy.phones.spendPerDay, policy.phones.spendPerDayPerProvider) = (40 * policy.phones.textPrice, 1_000_000)
        let price = policy.phones.textPrice
        try await ServiceFixture.run(policy, on: kind, nodes: 2) { fixture, contexts in
            let connection = try await fixture.connectNewDevice()
            var sessions: [Session] = []
            for number in 0..<2 * Self.callers {
                sessions.append(try await fixture.opened("user \(number)", on: connection).session)
                fixture.clock.advance(5)
            }
            let people = sessions
            let decisions = try await Self.meet(in: contexts.map(\.store)) { number in
                try await contexts[number % contexts.count].startPhoneVerification(
                    .init(
                        phoneNumber: "+1415555\(1000 + number)", region: nil, pushEndpoint: nil, presence: nil,
                        address: "192.0.2.1"), for: people[number], on: connection, verifyCaptcha: { _ in false }
                ).decision
            }
            #expect(decisions.filter { $0 == .withhold(.spendCeiling, thins: nil) }.count == 2 * Self.callers - 40)
            let sums = try await fixture.store.read { transaction in
                try ["SELECT amount FROM phone_spend", "SELECT COUNT(*) FROM phone_sends WHERE withheld IS NULL"].map {
                    try transaction.first($0)?.integer(0)
                }
            }
            #expect(sums == [Int64(40 * price), 40])
        }
    }

    @Test("append to one conversation: each number once, and none is missing", arguments: StoreKind.shared)
    func appends(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind, nodes: 2) {
            $0.streams.conversationRequires = .provider
        } _: { bench, stores in
            let ann = try await bench.people.person("ann")
            let bob = try await bench.people.person("bob")
            let stream = try await bench.open("conversation", [bob], by: ann)
            let nodes = stores.map { bench.anotherNode(over: $0) }
            let numbers = try await Self.meet(in: stores) { number in
                try await nodes[number % nodes.count].send("\(number)", to: stream, by: number % 4 < 2 ? ann : bob)
                    .sequence
            }
            #expect(numbers.sorted() == (Self.callers..<2 * Self.callers).map { Int64($0 + 1) })
            #expect(try await bench.read(stream, by: bob).count == 2 * Self.callers)
        }
    }

    @Test("request permissions: each is there", arguments: StoreKind.shared)
    func permissions(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind, nodes: 2) { _ in
        } _: { bench, stores in
            var people: [Session] = []
            for number in 0..<Self.callers { people.append(try await bench.people.person("user\(number)")) }
            let (users, nodes) = (people, stores.map { bench.anotherNode(over: $0) })
            let ids = try await Self.meet(in: stores) { number in
                let other = users[(number % Self.callers + 1 + number / Self.callers) % Self.callers]
                return try await nodes[number % nodes.count].context.requestPermission(
                    .init(id: UUID().uuidString, to: other.userID.description, eventID: nil),
                    for: users[number % Self.callers])
            }
            #expect(Set(ids).count == Self.callers)
            let count = try await stores[0].read { try $0.first("SELECT COUNT(*) FROM authorizations")?.integer(0) }
            #expect(count == Int64(2 * Self.callers))
        }
    }

    @Test("certify devices: each is given a certificate, up to the ceiling", arguments: StoreKind.shared)
    func certificates(kind: StoreKind) async throws {
        var policy = Policy()
        policy.certification.openPerHour = 45
        try await ServiceFixture.run(policy, on: kind, nodes: 2) { fixture, contexts in
            let requests = try (0..<2 * Self.callers).map { number in
                let request = try fixture.request()
                return Service.DeviceRequest(
                    csr: request.csr, presenceKey: nil, enrolmentToken: nil, captcha: nil,
                    address: "10.\(number).0.1")
            }
            let granted = try await Self.meet(in: contexts.map(\.store)) { number in
                do {
                    _ = try await contexts[number % contexts.count].certifyDevice(requests[number]) { _ in true }
                    return true
                } catch let refusal as Refusal where refusal.code == .rateLimited {
                    return false
                }
            }
            #expect(granted.filter { !$0 }.count == 2 * Self.callers - 45)
        }
    }
}
