import Domain
import Fixtures
import NIOCore
import NIOEmbedded
import Operations
import Testing

@testable import API

/// A task keeps the memory of the deepest call that it made, and most connections wait for hours.
@Suite("The task of a connection", .timeLimit(.minutes(5)))
struct WaitingTaskTests {
    enum Cause: CaseIterable {
        case request, halfClose, stop, error, cancellation, end
    }

    @Test("calls the routes only when there is something for them to see", arguments: Cause.allCases)
    func waits(cause: Cause) async throws {
        try await ServiceFixture.run(FastPathEqualityTests.policy) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let token = try #require(opened.token).text.reveal()
            let usual = WireRequest(fields: [("Authorization", "Layer session-token=\"\(token)\"")])
            let way = AnswerWay(fixture, usesFastPath: true)
            let wire = try await way.open(connection, isHTTP2: false)
            for _ in 0..<3 { _ = try await wire.exchange(usual) }
            #expect(way.fastAnswers == 3)
            #expect(way.tasks.calls == 0)
            let channel = wire.channel
            switch cause {
            case .request:
                let answer = try await wire.exchange(WireRequest(target: "/nowhere"))
                #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 404"))
            case .halfClose:
                try await channel.testingEventLoop.executeInContext {
                    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
                }
            case .stop: try await wire.stop()
            case .error:
                try await channel.testingEventLoop.executeInContext {
                    channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
                }
            case .cancellation: way.tasks.cancel()
            case .end: await wire.close()
            }
            for _ in 0..<12000 where way.tasks.calls == 0 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(way.tasks.calls == 1)
            await wire.close()
        }
    }
}
