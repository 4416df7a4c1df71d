import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Herald
import NIOCore
import NIOSSL
import Testing

@testable import CountersignClient
@testable import CountersignSync

/// The SDK's calls of streams over one connection of frames.
@Suite("Streams of the SDK over Herald", .serialized)
struct HeraldMessagingTests {
    private static func device(
        _ live: LiveService, _ user: String, over relay: Relay? = nil
    ) async throws -> MessagingDevice {
        var service = live.service()
        service.messaging = .herald
        if let relay { service.clientURL = try #require(URL(string: "https://127.0.0.1:\(relay.port)")) }
        return try await MessagingDevice(live, user, at: service)
    }

    private static func opening(_ members: String...) -> StreamOpening {
        StreamOpening(.conversation, members: members)
    }

    @Test("give each call the function that has its route; what has none goes over HTTP")
    func names() throws {
        let stream = UUID().path
        let body = try JSONEncoder().encode(["id": "x"])
        for (method, path, name) in [
            ("POST", "/streams", "openStream"), ("GET", "/streams?kind=forum&cursor=a%2Fb", "listStreams"),
            ("GET", "/streams/\(stream)", "showStream"), ("DELETE", "/streams/\(stream)", "deleteStream"),
            ("POST", "/streams/\(stream)/events", "appendEvent"),
            ("GET", "/streams/\(stream)/events?after=3&limit=9", "readEvents"),
            ("DELETE", "/streams/\(stream)/events/\(stream)", "deleteEvent"),
            ("DELETE", "/streams/\(stream)/events/\(stream)/copy", "deleteEventForMe"),
            ("PATCH", "/streams/\(stream)/events/\(stream)/metadata", "changeEventMetadata"),
            ("PATCH", "/streams/\(stream)/events/\(stream)/metadata/private", "changePrivateEventMetadata"),
            ("POST", "/streams/\(stream)/receipts", "raiseReceipts"),
            ("PUT", "/streams/\(stream)/members/\(stream)", "addMember"),
            ("DELETE", "/streams/\(stream)/members/\(stream)", "removeMember"),
            ("PATCH", "/streams/\(stream)/metadata", "changeMetadata"),
            ("PATCH", "/streams/\(stream)/metadata/private", "changePrivateMetadata"),
            ("GET", "/sync?anchor=0&wait=25", "synchronize"), ("POST", "/streams/\(stream)/typing", nil),
            ("GET", "/me", nil), ("GET", "/streams?other=1", nil), ("GET", "/streams?kind", nil), ("GET", "", nil),
        ] as [(String, String, String?)] {
            let hasBody = ["POST", "PATCH"].contains(method) && !path.hasSuffix("typing")
            let call = Call(
                .init(method: .init(rawValue: method)!, scheme: nil, authority: nil, path: path),
                body: hasBody ? body : nil)
            #expect(HeraldCall(call)?.function.name == name, "\(method) \(path)")
        }
        let named = try #require(
            HeraldCall(
                Call(
                    .init(method: .get, scheme: nil, authority: nil, path: "/streams/a%20b/events?before=7"), body: nil)
            ))
        #expect(named.arguments == [ThriftField(1, .text("a b")), ThriftField(3, .i64(7))])
    }

    @Test("answer, refuse and wake as HTTP does; a notification of the provider comes with its content")
    func calls() async throws {
        let live = try await LiveService(policies: LiveService.openStreams)
        let (ann, bob) = (try await Self.device(live, "ann"), try await Self.device(live, "bob"))
        let plain = try await MessagingDevice(live, "bob")
        let opening = Self.opening("devices/bob")
        try await ann.streams.open(opening)
        await expectRefusal(.notFound) { _ = try await ann.streams.show(UUID()) }
        for number in 1...3 { try await ann.streams.append(NewMessage([.text("\(number)")]), to: opening.id) }
        #expect(try await bob.streams.show(opening.id) == plain.streams.show(opening.id))
        #expect(try await bob.streams.list() == plain.streams.list())
        #expect(
            try await bob.streams.messages(in: opening.id, after: 0)
                == plain.streams.messages(in: opening.id, after: 0))
        let page = try await bob.streams.synchronize()
        #expect(try await page.operations == plain.streams.synchronize().operations)
        // It waits for a push, not for the end of the time.
        let waiting = Task { try await bob.streams.synchronize(since: page.anchor, wait: 25) }
        try await Task.sleep(for: .milliseconds(300))
        try await ann.streams.append(NewMessage([.text("4")]), to: opening.id)
        #expect(try await within { try await waiting.value }.operations.map(\.kind) == [.newMessage])

        let id = UUID()
        try await live.notify("bob", id, ["title": "News", "data": ["place": "here"]])
        let found = try await within { try await bob.streams.synchronize(since: page.anchor, wait: 25) }
        #expect(found.notifications.map(\.id) == [id] && found.notifications.first?.data == ["place": "here"])
        #expect(try await plain.streams.synchronize(since: page.anchor).notifications == found.notifications)
        for device in [ann, bob] {
            #expect(device.app.exchanges.filter { $0.path.isOfStreams }.allSatisfy { $0.messaging == .herald })
        }
        #expect(plain.app.exchanges.allSatisfy { $0.messaging == .http })
        // Kept on the device until it is forgotten, and then not shown again.
        for device in [bob, plain] {
            try await device.local.synchronize()
            #expect(try await device.local.notifications().map(\.title) == ["News"])
            try await device.local.forget(notification: id)
            try await device.local.write { try $0.keep(found.notifications) }
            #expect(try await device.local.notifications().isEmpty)
        }
    }

    @Test("change the metadata of messages and delete them for one user, as HTTP does")
    func messageMetadata() async throws {
        let live = try await LiveService(policies: LiveService.openStreams)
        let (ann, bob) = (try await Self.device(live, "ann"), try await MessagingDevice(live, "bob"))
        let opening = Self.opening("devices/bob")
        try await ann.streams.open(opening)
        let message = NewMessage([.text("hello")])
        try await ann.streams.append(message, to: opening.id)
        let (heart, later) = (
            MetadataValue.object(["heart": .integer(1)]), MetadataValue.object(["later": .bool(true)])
        )
        #expect(try await ann.streams.merge(heart, into: message.id, in: opening.id) == heart)
        #expect(try await ann.streams.merge(.object([:]), into: message.id, in: opening.id) == heart)
        for device in [ann, bob] {
            #expect(try await device.streams.set(later, .own, of: message.id, in: opening.id) == later)
            let read = try #require(try await device.streams.messages(in: opening.id, after: 0).messages.first)
            #expect(read.metadata == heart && read.privateMetadata == later)
            let change = try #require(
                try await device.streams.synchronize().operations.first { $0.messageID == message.id })
            #expect(change.kind == .updateTags && change.stream == nil)
            #expect(change.messageMetadata == .init(sequence: 1, metadata: heart, privateMetadata: later))
        }
        try await bob.streams.deleteForMe(message.id, in: opening.id)
        for (device, isDeleted) in [(ann, false), (bob, true)] {
            let read = try await device.streams.messages(in: opening.id, after: 0).messages
            #expect(read.map(\.isDeleted) == [isDeleted] && (read.first?.metadata == nil) == isDeleted)
        }
        await expectRefusal(.notFound) { _ = try await bob.streams.set(later, of: message.id, in: opening.id) }
    }

    @Test("go on in a session that was challenged, over a connection that broke, and end with a ban")
    func endings() async throws {
        let live = try await LiveService(policies: LiveService.openStreams)
        let relay = try await Relay(to: live.clientURL.port ?? 0)
        let (ann, bob) = (try await Self.device(live, "ann", over: relay), try await MessagingDevice(live, "bob"))
        let opening = Self.opening("devices/bob")
        try await ann.streams.open(opening)
        try await live.admin("session", "challenge", ann.session.id.uuidString.lowercased())
        try await ann.streams.append(NewMessage([.text("1")]), to: opening.id)
        // The service acts, its answer is lost, and the same message is sent again.
        relay.loseAnswer()
        try await ann.streams.append(NewMessage([.text("2")]), to: opening.id)
        try await ann.streams.append(NewMessage([.text("3")]), to: opening.id)
        let texts = try await bob.streams.messages(in: opening.id, after: 0).messages
        #expect(texts.flatMap { ($0.parts ?? []).compactMap(\.text) } == ["1", "2", "3"])
        #expect(ann.app.exchanges.contains { $0.path.isOfStreams && $0.status == nil })
        try await live.admin("ban", "add", "--user", "devices/ann", "--reason", "spam", "--yes")
        try await eventually {
            do throws(Refusal) { _ = try await ann.streams.list() } catch { return error.problem?.code == .userBanned }
            return false
        }
    }

    @Test("leave a connection on which nothing comes any more")
    func silence() async throws {
        let live = try await LiveService(policies: LiveService.openStreams)
        let relay = try await Relay(to: live.clientURL.port ?? 0)
        let ann = try await Self.device(live, "ann", over: relay)
        #expect(try await ann.streams.list().streams.isEmpty)
        relay.hold()
        defer { relay.release() }
        // Its ten seconds pass; the next try has a connection of its own.
        #expect(try await within(40) { try await ann.streams.list() }.streams.isEmpty)
        let calls = ann.app.exchanges.filter(\.path.isOfStreams)
        #expect(calls.map(\.status) == [200, nil, 200] && calls.last?.messaging == .herald)
    }

    @Test("are no calls to a server that does not speak Herald")
    func other() async throws {
        let live = try await LiveService()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(live.authority.utf8)))
        tls.applicationProtocols = ["herald/1"]
        // The public listener has HTTP alone.
        let place = HeraldConnection.Place(
            host: "127.0.0.1", port: try #require(live.publicURL.port), tls: tls, localAddress: nil,
            check: { $0.eventLoop.makeSucceededVoidFuture() })
        await #expect(throws: (any Error).self) { _ = try await HeraldConnection.open(place, token: "none") }
    }
}

extension String {
    fileprivate var isOfStreams: Bool { hasPrefix("/streams") || self == "/sync" }
}
