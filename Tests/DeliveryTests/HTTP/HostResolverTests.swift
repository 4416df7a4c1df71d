import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import Synchronization
import Testing

@testable import Delivery

@Suite("Look-ups of hosts")
struct HostResolverTests {
    private static func provider() -> HostOwner { .provider(ProviderID(UUID())) }

    /// Counts look-ups; those of some hosts end when the test says so.
    private final class NameServer: Sendable {
        private let asked = Mutex<[String]>([])
        let gate = DispatchSemaphore(value: 0)

        func lookUp(_ host: String) -> [IPAddress] {
            asked.withLock { $0.append(host) }
            guard !host.hasPrefix("dead") else {
                gate.wait()
                return []
            }
            return host.hasPrefix("none") ? [] : IPAddress(ipv4: "127.0.0.1").map { [$0] } ?? []
        }

        func count(_ prefix: String) -> Int { asked.withLock { $0.count { $0.hasPrefix(prefix) } } }
    }

    @Test("that are never answered keep two places of their owner, and no event of another provider waiting")
    func bounded() async throws {
        let server = NameServer()
        let resolver = HostResolver(lookUp: { server.lookUp($0) })
        var webhooks = Policy().webhooks
        webhooks.attemptTimeout = 60
        let transmitter = SecurityEventTransmitter(
            DeliveryPolicy(), webhooks, allowingLoopback: true, resolver: resolver, permits: { $0.isLoopback })
        let (attacker, other) = (ProviderID(UUID()), ProviderID(UUID()))
        let url = try await Stations.webhook.value.url(host: "localhost") + "/200"
        await withTaskGroup(of: DeliveryOutcome.self) { group in
            for number in 0..<100 {
                group.addTask {
                    await transmitter.send("a.b.c", to: "https://dead-\(number).example/", of: attacker)
                }
            }
            // 98 may begin no look-up, and are told so at once.
            for _ in 0..<98 {
                #expect(await group.next() == .unavailable(reason: "the webhook's host has no address"))
            }
            // Each look-up has a thread of its own, which may begin later than the others are refused.
            for _ in 0..<12000 where server.count("dead") < HostResolver.atOnceForOwner {
                try? await Task.sleep(for: .milliseconds(10))
            }
            #expect(server.count("dead") == HostResolver.atOnceForOwner)
            // The station knows no signature of ours: that it answers 401 shows that it was asked.
            for _ in 0..<3 {
                #expect(await transmitter.send("a.b.c", to: url, of: other) == .unavailable(reason: "HTTP 401"))
            }
            for _ in 0..<2 { server.gate.signal() }
            await group.waitForAll()
        }
        #expect(server.count("dead") == 2 && server.count("localhost") == 1)
    }

    @Test("of one host that are under way at once are one, and what is known is asked for again after its time")
    func remembered() async throws {
        let server = NameServer()
        let time = Mutex(NIODeadline.uptimeNanoseconds(0))
        let resolver = HostResolver(now: { time.withLock { $0 } }, lookUp: { server.lookUp($0) })
        let owner = Self.provider()
        for (host, kept) in [("a.example", HostResolver.kept), ("none.example", HostResolver.failureKept)] {
            for _ in 0..<3 { _ = await resolver(host, of: owner, within: 60) }
            #expect(server.count(host) == 1)
            time.withLock { $0 = $0 + kept }
            _ = await resolver(host, of: owner, within: 60)
            #expect(server.count(host) == 2)
        }
        // What one owner has made known is not another's.
        _ = await resolver("a.example", of: Self.provider(), within: 60)
        #expect(server.count("a.example") == 3)
        await withTaskGroup(of: [IPAddress].self) { group in
            for _ in 0..<8 { group.addTask { await resolver("dead.example", of: owner, within: 0.05) } }
            for await found in group { #expect(found.isEmpty) }
        }
        #expect(server.count("dead") == 1)
        // The time was up: that counts as a failure, and is not waited for again.
        #expect(await resolver("dead.example", of: owner, within: 60).isEmpty)
        server.gate.signal()
    }

    @Test("go on for others while those of many owners are not answered, up to a bound for all")
    func all() async throws {
        let server = NameServer()
        let resolver = HostResolver(lookUp: { server.lookUp($0) })
        let full = HostResolver.atOnce
        await withTaskGroup(of: [IPAddress].self) { group in
            for number in 0..<(full - 1) {
                group.addTask { await resolver("dead-\(number).example", of: Self.provider(), within: 60) }
            }
            for _ in 0..<24000 where server.count("dead") < full - 1 { try? await Task.sleep(for: .milliseconds(5)) }
            #expect(await resolver("a.example", of: Self.provider(), within: 60).count == 1)
            for _ in 0..<(full - 1) { server.gate.signal() }
            await group.waitForAll()
        }
    }

    @Test("are one resolver's for webhooks, streams and issuers")
    func shared() {
        let reader = KeySetReader(DeliveryPolicy(), allowingLoopback: false)
        let transmitter = SecurityEventTransmitter(DeliveryPolicy(), Policy().webhooks, allowingLoopback: false)
        #expect(reader.exchange.resolver === transmitter.exchange.resolver)
    }
}

@Suite("The fields of responses")
struct ResponseFieldTests {
    @Test("are read if they are short and ASCII, so no comparison of text takes long")
    func plain() {
        for field in ["", "max-age=600", String(repeating: "a", count: 1024)] {
            #expect(BoundedHTTPClient.plain(field) == field)
        }
        let marks = String(repeating: "\u{301}", count: 30_000)
        for field in [nil, "max-age=600\u{301}", marks, String(repeating: "a", count: 1025)] {
            #expect(BoundedHTTPClient.plain(field) == nil)
        }
    }

    @Test("say that there is no coding only by its name")
    func identity() {
        for coding in ["identity", "Identity", "IDENTITY"] { #expect(BoundedHTTPClient.isIdentity(coding)) }
        for coding in ["", "gzip", "identity, gzip", "identit\u{FD}", "x-identity", "identity\u{301}"] {
            #expect(!BoundedHTTPClient.isIdentity(coding))
        }
    }
}

@Suite("The field Retry-After")
struct RetryAfterTests {
    @Test(
        "is a number of seconds or a date, and nothing else",
        arguments: [
            ("20", 20), ("0", 0), ("99999999999999999999", .infinity), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("", nil), ("-1", nil), ("2.5", nil), ("soon", nil),
            ("Sun, 06 Nov 1994 08:50:37 CET", nil), ("Sun, -6 Nov 1994 08:50:37 GMT", nil),
        ] as [(String, TimeInterval?)])
    func values(field: String, seconds: TimeInterval?) {
        // Sun, 06 Nov 1994 08:49:37 GMT.
        let now = Date(timeIntervalSince1970: 784_111_777)
        #expect(RetryAfter.seconds(field, now: now) == seconds)
        #expect(RetryAfter.seconds(nil, now: now) == nil)
    }
}
