import CountersignClient
import CountersignSync
import Fixtures
import Foundation
import Testing

/// Metadata and deletions of single messages between devices and the running service.
@Suite("Metadata of messages in the SDK", .serialized)
struct LiveMetadataTests {
    private static func tags(_ device: MessagingDevice, _ message: UUID, _ stream: UUID) async throws -> ShownMessage? {
        try await device.local.synchronize()
        return try await device.local.thread(message, in: stream).first
    }

    @Test("of several devices without a connection all arrive; private ones and deletions stay with their user")
    func offline() async throws {
        let live = try await LiveService(policies: LiveService.openStreams)
        let devices = [
            try await MessagingDevice(live, "ann"), try await MessagingDevice(live, "ann"),
            try await MessagingDevice(live, "bob"),
        ]
        let stream = UUID()
        let messages = [NewMessage([.text("one")]), NewMessage([.text("two")])]
        try await devices[0].streams.open(StreamOpening(.conversation, members: ["devices/bob"], id: stream))
        for message in messages { try await devices[0].streams.append(message, to: stream) }
        for device in devices { try await device.local.synchronize() }
        live.running.kill()
        let id = messages[0].id
        for (number, device) in devices.enumerated() {
            try await device.local.merge(.object(["d\(number)": .bool(true)]), into: id, in: stream)
        }
        try await devices[0].local.merge(.object(["later": .bool(true)]), .own, into: id, in: stream)
        try await devices[1].local.deleteForMe(messages[1].id, in: stream)
        await #expect(throws: Refusal.self) { try await devices[0].local.synchronize() }
        try live.running.start()
        for _ in 0..<2 { for device in devices { try await device.local.synchronize() } }

        let all = MetadataValue.object(["d0": .bool(true), "d1": .bool(true), "d2": .bool(true)])
        for device in devices {
            let found = try await Self.tags(device, id, stream)
            let isAnn = device.session.userID == devices[0].session.userID
            #expect(found?.metadata == all)
            #expect(found?.privateMetadata == .object(isAnn ? ["later": .bool(true)] : [:]))
            #expect(try await device.texts(stream) == ["1 one", isAnn ? "2 -" : "2 two"])
            #expect(try await device.local.messages(matching: "two").count == (isAnn ? 0 : 1))
            #expect(try await device.local.isReconciled())
        }
        // A deletion for all takes the metadata with it.
        try await devices[0].local.delete(id, in: stream)
        try await devices[0].local.synchronize()
        #expect(try await Self.tags(devices[2], id, stream)?.metadata == .object([:]))
        #expect(try await devices[2].texts(stream).first == "1 -")
    }
}
