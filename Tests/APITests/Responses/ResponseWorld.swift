import Domain
import Fixtures
import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import API

/// Somebody who may ask every route that makes a large response or waits, over both versions of HTTP.
struct ResponseWorld {
    /// A route of a table; `{id}` stands for a stream of messages or of events.
    struct Route: Sendable, CustomTestStringConvertible {
        let call: String
        let template: String
        var listener = ListenerName.client

        /// - Parameter query: what is asked, without the question mark.
        init(_ template: String, query: String = "", on listener: ListenerName = .client) {
            (self.template, self.listener) = (template, listener)
            call = query.isEmpty ? template : "\(template)?\(query)"
        }

        var testDescription: String { template }
    }

    let bench: RouterBench
    private let person: SignedIn
    private let stream: String
    private let eventStream: String
    private let anchor: String

    /// - Parameter hasEvent: whether the stream of events has one, so that a poll does not wait.
    static func run(hasEvent: Bool = false, _ body: (ResponseWorld) async throws -> Void) async throws {
        let policy = RouterBench.policy { policy in
            policy.requests.exportsPerHour = 1000
            policy.streams.pollWait = 3600
            policy.webhooks.pollWait = 300
        }
        try await RouterBench.run(policy) { bench in
            let world = try await ResponseWorld(bench)
            if hasEvent {
                let wanted = #"{"stream_id":"\#(world.eventStream)"}"#
                #expect(try await bench.provider("POST /ssf/verification", body: wanted).status == 204)
            }
            try await body(world)
        }
    }

    private init(_ bench: RouterBench) async throws {
        self.bench = bench
        person = try await bench.verified("ann", 1)
        let id = UUID().uuidString.lowercased()
        let opened = try await person.send("POST /streams", json: #"{"id":"\#(id)","kind":"forum","title":"A title"}"#)
        #expect(opened.status == 201, "\(opened)")
        let message = #"{"id":"\#(UUID())","parts":[{"type":"text/plain","body":"hello"}]}"#.lowercased()
        let sent = try await person.send("POST /streams/\(id)/events", json: message)
        #expect(sent.status == 201, "\(sent)")
        stream = id
        anchor = try #require(try await person.send("GET /sync?anchor=latest").text("anchor"))
        eventStream = try #require(try await bench.stream("{}").text("stream_id"))
    }

    /// The listener that has a route.
    func way(_ route: Route, _ accounts: ResponseAccounts) -> AnswerWay {
        AnswerWay(bench.fixture, usesFastPath: true, on: route.listener, accounts: accounts)
    }

    func open(_ route: Route, _ way: AnswerWay, isHTTP2: Bool, takesBodies: Bool = true) async throws -> Wire {
        try await way.open(
            route.listener == .client ? person.connection : nil, isHTTP2: isHTTP2, takesBodies: takesBodies)
    }

    func request(_ route: Route) throws -> WireRequest {
        let words = route.call.replacing("{id}", with: stream).replacing("{stream_id}", with: eventStream)
            .replacing("{anchor}", with: anchor).split(separator: " ").map(String.init)
        let token =
            route.listener == .client ? "Layer session-token=\"\(person.token)\"" : "Bearer \(try bench.bearer())"
        guard words[0] == "POST" else {
            return WireRequest(method: words[0], target: words[1], fields: [("Authorization", token)])
        }
        return WireRequest(
            method: words[0], target: words[1],
            fields: [("Authorization", token), ("Content-Type", "application/json"), ("Content-Length", "2")],
            body: "{}")
    }
}

/// Keeps what leaves a connection, as if its client read nothing, until it is told otherwise.
final class Unread: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = Never

    private let held = Mutex<[EventLoopPromise<Void>]>([])
    private let isRead = Mutex(false)

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let promise else { return }
        if isRead.withLock({ $0 }) { return promise.succeed() }
        held.withLock { $0.append(promise) }
        // Fails when the connection ends, as the kernel's queue does.
        context.channel.closeFuture.whenComplete { [self] _ in fail() }
    }

    /// The client reads everything.
    func read() {
        isRead.withLock { $0 = true }
        for promise in take() { promise.succeed() }
    }

    private func fail() {
        for promise in take() { promise.fail(ChannelError.ioOnClosedChannel) }
    }

    private func take() -> [EventLoopPromise<Void>] {
        held.withLock { held in
            defer { held = [] }
            return held
        }
    }
}
