import CountersignClient
import CountersignSync
import Fixtures
import Foundation
import Testing

/// Devices of several users, and the running service between them.
@Suite("Streams of the SDK", .serialized)
struct LiveStreamTests {
    @Test(
        "carry messages, threads, receipts, members and metadata, as calls and as a sequence",
        arguments: [Service.Messaging.http, .herald])
    func calls(messaging: Service.Messaging) async throws {
        let live = try await LiveService(policies: LiveService.openStreams)
        var service = live.service()
        service.messaging = messaging
        let (ann, bob) = (
            try await MessagingDevice(live, "ann", at: service), try await MessagingDevice(live, "bob", at: service)
        )
        let opening = StreamOpening(
            .conversation, members: ["devices/bob"], title: "Plans", about: "What we do",
            metadata: .object(["b": .integer(1), "a": .object(["z": .null, "y": .bool(true)])]))
        let stream = opening.id
        for _ in 0..<2 { try await ann.streams.open(opening) }
        let reading = Task { () throws -> [String] in
            var found: [String] = []
            for try await message in bob.streams.events(of: stream) {
                found += (message.parts ?? []).compactMap(\.text)
                if found.count == 3 { break }
            }
            return found
        }
        let first = NewMessage([.text("one"), MessagePart(.bytes(Data([0, 255])), type: "image/png")])
        let sent = try await ann.streams.append(first, to: stream)
        #expect(try await ann.streams.append(first, to: stream) == sent && sent.sequence == 1 && sent.thread == nil)
        let reply = try await bob.streams.append(NewMessage([.text("two")], inReplyTo: first.id), to: stream)
        #expect(reply.thread == first.id)
        try await ann.streams.append(NewMessage([.text("three")]), to: stream)
        #expect(try await within { try await reading.value } == ["one", "two", "three"])

        let page = try await bob.streams.messages(in: stream, before: nil, limit: 2)
        #expect(page.messages.map(\.sequence) == [3, 2] && page.hasMore && page.lastSequence == 3)
        #expect(Set(page.profiles.map(\.address)) == ["devices/ann", "devices/bob"])
        #expect(try await bob.streams.messages(in: stream, after: 0).messages.first?.parts == first.parts)
        let receipts = try await bob.streams.acknowledge(deliveredThrough: 9, readThrough: 2, in: stream)
        #expect(receipts.deliveredThrough == 3 && receipts.readThrough == 2)
        let merged = try await bob.streams.merge(.object(["b": .null, "c": .number(0.5)]), into: stream)
        #expect(merged["a"]?["y"] == .bool(true) && merged["b"] == nil && merged["c"] == .number(0.5))
        try await bob.streams.set(.object(["muted": .bool(true)]), .own, of: stream)
        let shown = try await bob.streams.show(stream)
        #expect(shown.privateMetadata == .object(["muted": .bool(true)]) && shown.title == "Plans" && shown.unread == 1)
        #expect(try await ann.streams.list(.conversation).streams.map(\.id) == [stream])
        try await ann.streams.delete(first.id, in: stream)
        #expect(try await bob.streams.messages(in: stream, after: 0, limit: 1).messages.first?.isDeleted == true)
        try await bob.streams.remove(bob.session.userID, from: stream)
        #expect(try await bob.streams.show(stream).state == .left)
        try await ann.streams.add(bob.session.userID, to: stream)
        try await ann.streams.delete(stream)
        await expectRefusal(.notFound) { _ = try await bob.streams.show(stream) }
    }

    @Test("synchronize two devices: what is written without a connection arrives once, with its status")
    func offline() async throws {
        let live = try await LiveService(policies: LiveService.openStreams)
        let (ann, bob) = (try await MessagingDevice(live, "ann"), try await MessagingDevice(live, "bob"))
        let stream = UUID()
        live.running.kill()
        try await ann.local.open(StreamOpening(.conversation, members: ["devices/bob"], title: "Off", id: stream))
        let first = NewMessage([.text("one")])
        try await ann.local.send(first, to: stream)
        let regretted = NewMessage([.text("never")])
        try await ann.local.send(regretted, to: stream)
        try await ann.local.delete(regretted.id, in: stream)
        await #expect(throws: Refusal.self) { try await ann.local.synchronize() }
        #expect(try await ann.local.conversations().map(\.state) == [.opening])
        try live.running.start()
        for _ in 0..<2 { try await ann.local.synchronize() }
        #expect(try await ann.texts(stream) == ["1 one"])
        #expect(try await ann.local.isReconciled())

        try await bob.local.synchronize()
        #expect(try await bob.texts(stream) == ["1 one"])
        let row = try #require(try await bob.local.conversations().first)
        #expect(row.title == "Off" && row.unread == 1 && row.participants.map(\.id) == [ann.session.userID])
        #expect(row.participants.first?.profile?.address == "devices/ann" && row.last?.author?.address == "devices/ann")
        try await bob.local.send(NewMessage([.text("two")], inReplyTo: first.id), to: stream)
        try await bob.local.markRead(stream)
        try await bob.local.synchronize()
        try await ann.local.synchronize()
        let thread = try await ann.local.thread(first.id, in: stream)
        #expect(thread.map(\.text) == ["one", "two"] && thread.map(\.status) == [.read, nil])
        #expect(try await ann.local.queue().map(\.count) == [2])
        // A refusal stays with the message, and it can be sent again.
        try await ann.streams.remove(bob.session.userID, from: stream)
        let late = NewMessage([.text("late")])
        try await bob.local.send(late, to: stream)
        try await bob.local.synchronize()
        #expect(try await bob.local.thread(late.id, in: stream).map(\.status) == [.refused("left")])
        try await ann.streams.add(bob.session.userID, to: stream)
        try await bob.local.repeatMessage(late.id, in: stream)
        try await bob.synchronize { try await bob.local.thread(late.id, in: stream).first?.sequence == 3 }
        try await ann.local.synchronize()
        for device in [ann, bob] { #expect(try await device.texts(stream) == ["1 one", "2 two", "3 late"]) }
        // What one deletes is gone everywhere.
        try await bob.local.delete(late.id, in: stream)
        try await bob.local.synchronize()
        try await ann.local.synchronize()
        #expect(try await ann.texts(stream).last == "3 -")
        try await ann.local.delete(stream)
        try await ann.local.synchronize()
        try await bob.local.synchronize()
        for device in [ann, bob] { #expect(try await device.local.conversations().isEmpty) }
    }

    @Test("show a new message and who is writing while they run, and fetch older ones when they are asked for")
    func running() async throws {
        let live = try await LiveService(policies: LiveService.openStreams)
        let (ann, bob) = (try await MessagingDevice(live, "ann"), try await MessagingDevice(live, "bob"))
        let stream = UUID()
        try await ann.streams.open(StreamOpening(.conversation, members: ["devices/bob"], id: stream))
        for number in 1...120 { try await ann.streams.append(NewMessage([.text("\(number)")]), to: stream) }
        let typing = bob.local.typing
        let loops = [ann, bob].map { device in Task { await device.local.run() } }
        defer { for loop in loops { loop.cancel() } }
        try await bob.wait { try await bob.local.conversations().first?.last?.text == "120" }
        var page = try await bob.local.messages(in: stream, limit: 100)
        #expect(page.before == 21 && page.isFetchNeeded)
        #expect(try await bob.local.loadEarlier(in: stream) == false)
        page = try await bob.local.messages(in: stream, before: page.before, limit: 100)
        #expect(page.sections.flatMap(\.messages).map(\.sequence) == (1...20).reversed().map { Int64($0) })
        #expect(page.before == nil && !page.isFetchNeeded)
        let saying = Task {
            // A notice reaches those who wait at that moment.
            while !Task.isCancelled {
                try await ann.local.sayTyping(in: stream)
                try await Task.sleep(for: .milliseconds(300))
            }
        }
        defer { saying.cancel() }
        let writer = try await within { await typing.first { _ in true } }
        #expect(writer?.user == ann.session.userID && writer?.stream == stream)
        let last = NewMessage([.text("now")])
        try await ann.local.send(last, to: stream)
        try await bob.wait { try await bob.local.conversations().first?.last?.id == last.id }
        try await ann.wait { try await ann.local.thread(last.id, in: stream).first?.status == .delivered }
    }
}
