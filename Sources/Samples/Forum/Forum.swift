import Foundation
import SampleBackend

/// A forum with live messages: an example of a service that relies on Countersign and is not a provider itself.
///
/// Read it in this order: ``Forum``, then ``DeviceRoutes`` (the calls of a signed-in device), ``LiveForums``
/// (WebSockets), ``ForumStore``, ``ForumImage``, ``Page`` (the page on the plain listener), ``BrowserRoutes`` (how a
/// browser writes). `SessionVerifier` in the folder `Backend` verifies a session's token.
@main
struct Forum {
    static func main() async {
        let defaults = Sample.commonDefaults.merging(
            ["--audience": "", "--provider": "", "--store": "forum.db", "--loopback-images": "off"]) { $1 }
        await Sample.run("forum", defaults: defaults) { sample in
            guard !sample.options["--audience"].isEmpty else {
                throw Options.Malformed(reason: "--audience is missing: the provider's id, or a URL registered for it")
            }
            let store = try ForumStore(file: sample.options["--store"])
            let live = LiveForums()
            let images = ForumImage.Source(
                reach: sample.options["--loopback-images"] == "on" ? .thisMachine : .publicAddresses)
            let verify = SessionVerifier(sample, audience: sample.options["--audience"])
            let board = Board(store: store, live: live)
            let provider = sample.options[sample.options["--provider"].isEmpty ? "--audience" : "--provider"]
            let events = SecurityEvents(sample, verify: verify, provider: provider)
            let (avatars, tickets) = (Avatars(store: store, images: images), Tickets())
            let plain = Page(board: board, avatars: avatars).router()
            events.add(to: plain) { end in
                tickets.drop(end)
                await live.close { end.applies(to: $0.caller) }
            }
            let sockets = SocketRoute(board: board, verify: verify)
            let browser = BrowserRoutes(sockets: sockets, tickets: tickets, events: events)
            let device = DeviceRoutes(board: board, verify: verify, avatars: avatars, tickets: tickets).router()
            browser.addIssue(to: device)
            browser.addExchange(to: plain)
            try await sample.serve(
                plain: plain, device: device, plainSocket: browser.admit, socket: sockets.admit)
        }
    }
}
