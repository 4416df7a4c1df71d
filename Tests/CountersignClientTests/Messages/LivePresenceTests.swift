import CountersignClient
import CountersignSync
import Fixtures
import Foundation
import Testing

/// Devices of two users who see each other, and the running service between them.
@Suite("Presence in the SDK", .serialized)
struct LivePresenceTests {
    @Test("shows that a device synchronizes, until its user hides", arguments: [Service.Messaging.http, .herald])
    func watched(messaging: Service.Messaging) async throws {
        let live = try await LiveService(policies: LiveService.openStreams)
        var service = live.service()
        service.messaging = messaging
        let (ann, bob) = (try await MessagingDevice(live, "ann"), try await MessagingDevice(live, "bob", at: service))
        let (user, stranger) = (bob.session.userID, UUID())
        try await ann.streams.open(StreamOpening(.conversation, members: ["devices/bob"]))
        let offline = [user, stranger].map { UserPresence(user: $0, isOnline: false) }
        #expect(try await ann.streams.presence(of: [user, stranger]) == offline)
        #expect(try await ann.streams.presence(of: []).isEmpty)

        let presence = ann.local.presence
        try await ann.local.watchPresence(of: [user, stranger])
        let loops = [ann, bob].map { device in Task { await device.local.run() } }
        defer { for loop in loops { loop.cancel() } }
        let online = UserPresence(user: user, isOnline: true)
        #expect(try await within(40) { await presence.first { $0.isOnline } } == online)
        #expect(await ann.local.presence(of: user) == online)
        #expect(try await ann.streams.synchronize(since: "latest", presenceOf: [user]).presence == [online])

        try await bob.streams.setPresence(.hidden)
        #expect(try await bob.app.client.profile().presence == .hidden)
        #expect(try await within(40) { await presence.first { !$0.isOnline && $0.user == user } } == offline[0])
        #expect(await ann.local.presence(of: stranger) == offline[1])
        // A hidden user sees nobody.
        #expect(try await bob.streams.presence(of: [ann.session.userID]).map(\.isOnline) == [false])
        try await bob.streams.setPresence(.visible)
        #expect(try await ann.streams.presence(of: [user]) == [online])
    }
}
