import Domain
import Encoding
import Fixtures
import Foundation
import Synchronization
import Testing

@testable import Delivery

@Suite("URLs that providers name")
struct PublicURLTests {
    @Test("are https on public hosts; the switch for development adds this machine alone")
    func hosts() {
        let open = [
            "https://receiver.example/x", "https://8.8.8.8/", "https://[2606:4700::1111]:8443/", "https://a.b/?c",
        ]
        let local = [
            "https://localhost/", "http://localhost:1/", "http://127.0.0.1:1/", "https://127.9.9.9/", "http://[::1]:1/",
            "https://x.localhost/", "https://LOCALHOST./",
        ]
        let foreign = [
            "http://receiver.example/", "https://intranet/", "https://10.0.0.1/", "https://192.168.0.1/",
            "https://169.254.169.254/", "https://[::ffff:127.0.0.1]/", "https://[fd00::1]/", "https://0.0.0.0/",
            "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://u@receiver.example/", "https://",
            "https://receiver.example/#f", "ftp://receiver.example/", "http://8.8.8.8/", "http://10.0.0.1/",
        ]
        for text in open {
            #expect(PublicURL(text, allowingLoopback: false) != nil, "\(text)")
            #expect(PublicURL(text, allowingLoopback: true) != nil, "\(text)")
        }
        for text in local {
            #expect(PublicURL(text, allowingLoopback: false) == nil, "\(text)")
            #expect(PublicURL(text, allowingLoopback: true) != nil, "\(text)")
        }
        for text in foreign {
            #expect(PublicURL(text, allowingLoopback: false) == nil, "\(text)")
            #expect(PublicURL(text, allowingLoopback: true) == nil, "\(text)")
        }
    }

    @Test(
        "have one spelling, which is judged, pinned and asked",
        arguments: [
            ("https://Receiver.EXAMPLE", "https://receiver.example/"),
            ("https://receiver.example.:443/A?b=C", "https://receiver.example/A?b=C"),
            ("https://receiver.example:8443", "https://receiver.example:8443/"),
            ("https://[2606:4700:0:0:0:0:0:1111]/", "https://[2606:4700::1111]/"),
            ("https://[2606:4700::1111]:0443/", "https://[2606:4700::1111]/"),
        ])
    func spelling(text: String, spelling: String) throws {
        let url = try #require(PublicURL(text, allowingLoopback: false))
        #expect(url.description == spelling)
        #expect(PublicURL(spelling, allowingLoopback: false) == url)
        // What Foundation, whose reading the client uses, takes for the host is what is pinned.
        let host = try #require(URL(string: url.description)?.host(percentEncoded: true))
        #expect(url.web.name == host || url.web.name == "[\(host)]")
    }

    @Test("with a private address are private, whatever else they have; without any they may be tried later")
    func reach() async throws {
        let owner = HostOwner.provider(ProviderID(UUID()))
        let url = try #require(PublicURL("https://receiver.invalid/", allowingLoopback: false))
        #expect(await url.reach(of: owner, within: 10) { _ in true } == .unknown)
        #expect(await !url.isPrivate(of: owner))
        let local = try #require(PublicURL("http://localhost:1/", allowingLoopback: true))
        #expect(await !local.isPrivate(of: owner))
        #expect(await local.reach(of: owner, within: 10) { $0.isPublic } == .forbidden)
        guard case .reachable(let address) = await local.reach(of: owner, within: 10, permits: { $0.isLoopback }) else {
            Issue.record("localhost has no address")
            return
        }
        #expect(address.isLoopback)
    }
}

@Suite("Receivers of events")
struct EventReceiverTests {
    /// How often a receiver's address was asked for, and what is said of it.
    private final class Answers: Sendable {
        private let left: Mutex<[Bool]>
        init(_ answers: [Bool]) { left = Mutex(answers) }
        func next() -> Bool { left.withLock { $0.isEmpty ? false : $0.removeFirst() } }
        var count: Int { left.withLock { $0.count } }
    }

    private func receiver(_ answers: Answers? = nil) -> SecurityEventTransmitter {
        var webhooks = Policy().webhooks
        webhooks.attemptTimeout = 10
        return SecurityEventTransmitter(DeliveryPolicy(), webhooks, allowingLoopback: true) { address in
            answers?.next() ?? address.isLoopback
        }
    }

    private let provider = ProviderID(UUID())

    private func url(_ path: String, host: String = "127.0.0.1") async throws -> String {
        try await Stations.webhook.value.url(host: host) + path
    }

    @Test("are asked at the address that was judged, in any spelling of their name")
    func pinned() async throws {
        // The station knows no signature of ours: that it answers 401 shows that it was asked.
        for host in ["127.0.0.1", "localhost", "LocalHost", "localhost."] {
            let outcome = await receiver().send("a.b.c", to: try await url("/200", host: host), of: provider)
            #expect(outcome == .unavailable(reason: "HTTP 401"), "\(host)")
        }
    }

    @Test("whose address turns out to be another after connecting are asked nothing")
    func peer() async throws {
        let answers = Answers([true])
        let outcome = await receiver(answers).send("a.b.c", to: try await url("/200"), of: provider)
        #expect(outcome == .unavailable(reason: "the connection led to an address that is not public"))
        #expect(answers.count == 0)
    }

    @Test("are not tried again after an answer that no repetition changes, and are after any other")
    func outcomes() {
        for status: UInt in [200, 202, 204] {
            #expect(
                SecurityEventTransmitter.outcome(.answered(status: status, body: nil)) == .sent(reference: ""),
                "\(status)")
        }
        #expect(
            SecurityEventTransmitter.outcome(.answered(status: 400, body: nil))
                == .refused(reason: "the receiver refused the event"))
        for status: UInt in [405, 413, 415] {
            #expect(
                SecurityEventTransmitter.outcome(.answered(status: status, body: nil))
                    == .refused(reason: "HTTP \(status)"))
        }
        #expect(SecurityEventTransmitter.outcome(.answered(status: 410, body: nil)) == .receiverGone)
        for (status, wait) in [(429, 20), (503, 20), (500, nil)] as [(UInt, TimeInterval?)] {
            #expect(
                SecurityEventTransmitter.outcome(.answered(status: status, body: nil), retryAfter: 20)
                    == .unavailable(reason: "HTTP \(status)", retryAfter: wait))
        }
        for status: UInt in [301, 401, 403, 404, 408, 429, 500, 503] {
            #expect(
                SecurityEventTransmitter.outcome(.answered(status: status, body: nil))
                    == .unavailable(reason: "HTTP \(status)"))
        }
    }

    @Test("that are not public are refused, before and without the switch")
    func refused() async throws {
        let strict = SecurityEventTransmitter(DeliveryPolicy(), Policy().webhooks, allowingLoopback: false)
        for text in [try await url("/200"), "https://localhost/", "https://10.0.0.1/", "http://receiver.example/"] {
            #expect(
                await strict.send("a.b.c", to: text, of: provider)
                    == .refused(reason: "the webhook is not an https URL of a public host"))
        }
        #expect(
            await receiver(Answers([false])).send("a.b.c", to: try await url("/200"), of: provider)
                == .refused(reason: "the webhook's host has an address that is not public"))
    }
}
