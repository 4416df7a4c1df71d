import Database
import Delivery
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Push endpoints of devices")
struct PushDeviceTests {
    /// What makes each kind of push, for a user with two devices.
    private static func push(_ kind: OutboxKind, _ bench: MessageBench, _ ann: Session, _ bob: Session) async throws {
        switch kind {
        case .authorization: try await bench.people.request(ann, bob)
        case .message:
            try await bench.permit(ann, bob)
            _ = try await bench.people.deliver()
            let stream = try await bench.open("direct", [bob], by: ann)
            try await bench.send("hello", to: stream, by: ann)
            bench.people.clock.advance(PushMessages.patience)
        case .call:
            try await bench.permit(ann, bob)
            _ = try await bench.people.deliver()
            let call = try await bench.open("call", [bob], by: ann)
            try await bench.send("offer", to: call, by: ann)
        case .notificationPush:
            let (context, id) = (bench.context, OutboxMessageID(UUID()))
            let notification = try UserNotification(id: id.description, title: "News", body: nil, data: nil)
            try await context.write { transaction, _ in
                guard let user = try UserRepository(transaction).find(bob.userID) else { return }
                _ = try NotificationRepository(transaction, keys: context.keys.personal).insert(
                    notification, as: id, to: user)
                _ = try PushNotifications(context).queue(notification, id, to: user, in: transaction)
            }
        case .phoneCode, .providerEvent, .polledEvent, .notification: return
        }
    }

    @Test(
        "receive each kind of push, one delivery for each device; a dead one is removed and the other stays",
        arguments: OutboxKind.allCases.filter { $0.pushWords != nil })
    func kinds(kind: OutboxKind) async throws {
        try await MessageBench.run { bench in
            let people = bench.people
            let (ann, bob) = (try await people.person("ann", hasEndpoint: false), try await people.person("bob"))
            let tablet = try await people.signInAgain(bob)
            try await people.register(AuthorizationBench.endpoint("tablet"), by: tablet)
            try await Self.push(kind, bench, ann, bob)
            let before = people.pushes.sent.count
            people.pushes.answer(.endpointGone)
            _ = try await people.deliver()
            #expect(Set(people.pushes.endpoints.dropFirst(before)) == ["bob", "tablet"])
            let keys = people.keys
            let left = try await people.store.read {
                try PushEndpointRepository($0, keys: keys).list(of: bob.userID).count
            }
            #expect(left == 0)
            let stored = try await people.store.read { try OutboxRepository($0).list(nil, limit: 100) }
            #expect(stored.filter { $0.kind == kind && $0.state == .expired }.count == 2)
        }
    }

    @Test("are taken by a device at any level, for itself alone, and are its own to remove")
    func anyLevel() async throws {
        try await MessageBench.run { bench in
            let people = bench.people
            let phone = try await people.person("ann", level: .none)
            let tablet = try await people.signInAgain(phone)
            try await people.register(AuthorizationBench.endpoint("phone"), by: phone)
            #expect(try await bench.context.readProfile(tablet).endpoints == nil)
            try await people.register(AuthorizationBench.endpoint("tablet"), by: tablet)
            try await people.register(nil, by: tablet)
            #expect(try await bench.context.readProfile(phone).endpoints?.usual == AuthorizationBench.endpoint("phone"))
            #expect(try await bench.context.readProfile(tablet).endpoints == nil)
            for change in [PushEndpointChange(usual: "arn:aws:sns:x"), PushEndpointChange(calls: "arn:aws:sns:x")] {
                await #expect(throws: Refusal(.malformedRequest, "")) {
                    try await bench.context.changeProfile(Service.ProfileChange(endpoints: change), for: phone)
                }
            }
        }
    }

    @Test("that name calls alone leave the other as it is")
    func partial() async throws {
        try await MessageBench.run { bench in
            let ann = try await bench.people.person("ann")
            let calls = AuthorizationBench.endpoint("calls")
            try await bench.context.changeProfile(
                Service.ProfileChange(endpoints: PushEndpointChange(calls: .some(calls))), for: ann)
            let both = try await bench.context.readProfile(ann).endpoints
            #expect(both?.usual == AuthorizationBench.endpoint("ann") && both?.calls == calls)
            try await bench.context.changeProfile(
                Service.ProfileChange(endpoints: PushEndpointChange(usual: .some(nil))), for: ann)
            let one = try await bench.context.readProfile(ann).endpoints
            #expect(one?.usual == nil && one?.calls == calls)
        }
    }

    @Test("fall silent with the device's session, and the others go on")
    func silenced() async throws {
        try await MessageBench.run { bench in
            let people = bench.people
            let (ann, bob) = (try await people.person("ann"), try await people.person("bob"))
            let tablet = try await people.signInAgain(bob)
            try await people.register(AuthorizationBench.endpoint("tablet"), by: tablet)
            try await bench.context.endOtherSession(tablet.id.description, by: bob)
            try await people.request(ann, bob)
            _ = try await people.deliver()
            #expect(people.pushes.endpoints == ["bob"])
            // A device that is revoked after the push was queued gets it no more.
            let other = try await people.person("other")
            try await people.request(other, bob)
            try await people.store.write { try GenerationRepository($0).raise(.device(bob.deviceID)) }
            _ = try await people.deliver()
            #expect(people.pushes.endpoints == ["bob"])
        }
    }

    @Test("of many devices of a user wait in turn with those of another provider's user")
    func turns() async throws {
        try await MessageBench.run(on: .usual) { policy in
            policy.phones.pushEndpointsPerUser = 20
        } _: { bench in
            let people = bench.people
            let (ann, bob) = (try await people.person("ann"), try await people.person("bob"))
            for number in 0..<19 {
                let device = try await people.signInAgain(bob)
                try await people.register(AuthorizationBench.endpoint("bob\(number)"), by: device)
            }
            let cat = try await people.person("cat", at: "other")
            let dan = try await people.person("dan", at: "other")
            try await people.request(ann, bob)
            people.clock.advance(1)
            try await people.request(cat, dan)
            let leased = try await people.store.write {
                try OutboxClaims($0).lease("test", [.authorization: 8], for: 30)
            }
            #expect(leased.count == 8 && leased.contains { $0.userID == dan.userID })
        }
    }
}
