import Delivery
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Operations

@Suite("Pushes of calls")
struct CallPushTests {
    /// Ann, who may call Bob, and Bob's phone and tablet.
    private struct World: Sendable {
        let bench: MessageBench
        let ann: Session
        let bob: Session
        let tablet: Session
        let permission: String

        var pushes: AuthorizationBench.Pushes { bench.people.pushes }

        func offer() async throws -> String {
            let call = try await bench.open("call", [bob], by: ann)
            try await bench.send("offer", to: call, by: ann)
            return call
        }

        /// Sends what is due, and returns the endpoints and types of the pushes.
        func deliver() async throws -> [String] {
            let before = pushes.sent.count
            _ = try await bench.people.deliver()
            let sent = pushes.sent.dropFirst(before)
            return try sent.map { push in
                let payload = try StrictJSON.parse(push.payload.utf8)
                let data = try StrictJSON.parse((payload["APNS"]?.text ?? "").utf8)
                let words = [data["type"]?.text, data["reason"]?.text].compactMap(\.self)
                return ([String(push.endpoint.split(separator: "/").last ?? "")] + words).joined(separator: " ")
            }.sorted()
        }

        /// Bans a user from messages.
        func ban(_ person: Session) async throws {
            let order = try BanOrder(
                target: .user(person.userID.description), scope: .messaging, reason: try #require(BanBench.spam),
                note: nil,
                endsAt: nil, withDevices: false)
            let (people, environment) = (bench.people, bench.context.environment)
            let admin = Administration(store: people.store, environment: environment, actor: "admin test") {
                people.keys
            }
            _ = try await admin.addBan(order, upTo: nil)
        }
    }

    private func run(
        on kind: StoreKind = .usual, calls: String? = nil, _ body: (World) async throws -> Void
    ) async throws {
        try await MessageBench.run(on: kind) { bench in
            let people = bench.people
            let (ann, bob) = (try await people.person("ann"), try await people.person("bob"))
            let permission = try await bench.permit(ann, bob)
            let tablet = try await people.signInAgain(bob)
            try await people.register(AuthorizationBench.endpoint("tablet"), calls: calls, by: tablet)
            let world = World(bench: bench, ann: ann, bob: bob, tablet: tablet, permission: permission)
            _ = try await world.deliver()
            try await body(world)
        }
    }

    @Test("ring on every device at once, and end on the others when one picks up", arguments: StoreKind.shared)
    func answered(kind: StoreKind) async throws {
        try await run(on: kind) { world in
            let call = try await world.offer()
            #expect(try await world.deliver() == ["bob CALL", "tablet CALL"])
            let push = try world.pushes.data()
            #expect(push["stream_id"]?.text == call && push["initials"]?.text == "MS")
            #expect(push["display_name"]?.text == "Person ann")
            #expect(push["aps"]?["alert"]?["body"]?.text == "Person ann is calling you.")
            #expect(push["expires_at"]?.text == (world.bench.people.clock.now + 60).rfc3339)
            #expect(world.pushes.sent.last?.urgency == .call(id: call, seconds: 60))
            try await world.bench.send("answer", to: call, by: world.tablet)
            #expect(try await world.deliver() == ["bob CALL_END answered"])
            world.bench.people.clock.advance(61)
            #expect(try await world.deliver().isEmpty)
            let payloads = world.pushes.sent.map(\.payload).joined()
            for secret in AuthorizationBench.secrets + ["offer"] { #expect(!payloads.contains(secret)) }
        }
    }

    @Test("end when the caller gives up, a device declines, or nobody picks up")
    func endings() async throws {
        try await run { world in
            let context = world.bench.context
            let given = try await world.offer()
            _ = try await world.deliver()
            try await context.deleteMessageStream(given, for: world.ann)
            #expect(try await world.deliver() == ["bob CALL_END given_up", "tablet CALL_END given_up"])
            let declined = try await world.offer()
            _ = try await world.deliver()
            try await context.deleteMessageStream(declined, for: world.bob)
            #expect(try await world.deliver() == ["tablet CALL_END declined"])
            _ = try await world.offer()
            _ = try await world.deliver()
            world.bench.people.clock.advance(60)
            #expect(try await world.deliver() == ["bob CALL_END missed", "tablet CALL_END missed"])
            world.bench.people.clock.advance(600)
            #expect(try await world.deliver().isEmpty)
        }
    }

    @Test("of a missed call end once, whether somebody deletes it at once or later")
    func deletedLater() async throws {
        try await run { world in
            let later = try await world.offer()
            _ = try await world.deliver()
            world.bench.people.clock.advance(60)
            _ = try await world.deliver()
            try await world.bench.context.deleteMessageStream(later, for: world.bob)
            #expect(try await world.deliver().isEmpty)
            let atOnce = try await world.offer()
            _ = try await world.deliver()
            world.bench.people.clock.advance(60)
            try await world.bench.context.deleteMessageStream(atOnce, for: world.ann)
            #expect(try await world.deliver() == ["bob CALL_END missed", "tablet CALL_END missed"])
        }
    }

    @Test("of a call that was answered and then ended say nothing more")
    func hangUp() async throws {
        try await run { world in
            let call = try await world.offer()
            _ = try await world.deliver()
            try await world.bench.send("answer", to: call, by: world.bob)
            #expect(try await world.deliver() == ["tablet CALL_END answered"])
            try await world.bench.context.deleteMessageStream(call, for: world.ann)
            world.bench.people.clock.advance(61)
            #expect(try await world.deliver().isEmpty)
        }
    }

    /// What ends a call, or the right to call.
    private static let ends: [(String, @Sendable (World, String) async throws -> Void)] = [
        (
            "block",
            { world, _ in try await world.bench.context.blockUser(world.ann.userID.description, for: world.bob) }
        ),
        (
            "cancellation",
            { world, _ in _ = try await world.bench.context.cancelAuthorization(world.permission, for: world.ann) }
        ),
        ("ban of the caller", { world, _ in _ = try await world.ban(world.ann) }),
        ("ban of the callee", { world, _ in _ = try await world.ban(world.bob) }),
        ("given up", { world, call in try await world.bench.context.deleteMessageStream(call, for: world.ann) }),
        ("erasure", { world, _ in _ = try await world.bench.context.erasePersonalData(for: world.ann) }),
    ]

    @Test("are stopped by what happens between the offer and the push, and then there is no end either")
    func stopped() async throws {
        for (name, end) in Self.ends {
            try await run { world in
                let call = try await world.offer()
                try await end(world, call)
                #expect(try await world.deliver().isEmpty, "\(name)")
                world.bench.people.clock.advance(60)
                #expect(try await world.deliver().isEmpty, "\(name)")
            }
        }
    }

    @Test("tell nobody of a missed call of a user who may not call any longer")
    func unwanted() async throws {
        for (name, end) in Self.ends {
            try await run { world in
                let call = try await world.offer()
                #expect(try await world.deliver() == ["bob CALL", "tablet CALL"])
                try await end(world, call)
                let told = try await world.deliver()
                #expect(told == (name == "given up" ? ["bob CALL_END given_up", "tablet CALL_END given_up"] : []))
                world.bench.people.clock.advance(60)
                #expect(try await world.deliver().isEmpty, "\(name)")
            }
        }
    }

    @Test("use the device's endpoint for calls, and end by the usual one")
    func endpoints() async throws {
        try await run(calls: AuthorizationBench.endpoint("voip")) { world in
            let call = try await world.offer()
            #expect(try await world.deliver() == ["bob CALL", "voip CALL"])
            try await world.bench.send("answer", to: call, by: world.bob)
            #expect(try await world.deliver() == ["tablet CALL_END answered"])
            // Nothing else uses it, and the carrier's report takes it away alone.
            world.pushes.answer(.endpointGone)
            _ = try await world.offer()
            #expect(try await world.deliver() == ["bob CALL", "voip CALL"])
            let (phone, tablet) = (
                try await world.bench.context.readProfile(world.bob).endpoints,
                try await world.bench.context.readProfile(world.tablet).endpoints
            )
            #expect(phone == nil && tablet?.calls == nil && tablet?.usual == AuthorizationBench.endpoint("tablet"))
        }
    }

    @Test("are tried while the phone may ring, and not longer")
    func carrierAway() async throws {
        try await run { world in
            _ = try await world.offer()
            world.pushes.answer(.unavailable(reason: "down"))
            for wait in [1.0, 2, 4, 5, 5] {
                #expect(try await world.deliver().count == 2)
                world.bench.people.clock.advance(wait)
            }
            world.pushes.answer(.sent(reference: "1"))
            #expect(try await world.deliver() == ["bob CALL", "tablet CALL"])
            guard case .call(_, let seconds)? = world.pushes.sent.last?.urgency else {
                Issue.record("it is no push of a call")
                return
            }
            #expect(seconds == 43)
        }
    }
}
