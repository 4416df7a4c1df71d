import Encoding
import HTTPTypes
import Herald
import Hummingbird
import NIOCore
import NIOEmbedded
import Testing

@testable import API

@Suite("Calls of Herald as requests")
struct HeraldRequestTests {
    private func request(_ name: String, _ arguments: [JSONMember]) throws -> HeraldRequest? {
        HeraldRequest(try #require(ThriftInterface.herald.functions[name]), arguments, token: "abc")
    }

    @Test("put arguments into the path and the query so that none of them becomes another part of it")
    func places() throws {
        let found = try #require(
            try request(
                "readEvents",
                [
                    JSONMember(name: "stream", value: .string("a/../b?x=1#é")),
                    JSONMember(name: "after", value: .integer(7)),
                ]))
        #expect(found.request.head.path == "/streams/a%2F..%2Fb%3Fx%3D1%23%C3%A9/events?after=7")
        #expect(found.request.method == .get)
        #expect(found.request.headers[.authorization] == "Bearer abc")
        #expect(found.request.headers[.contentType] == nil)
        let changes = try #require(
            try request("synchronize", [JSONMember(name: "anchor", value: .string("x&wait=25"))]))
        #expect(changes.request.head.path == "/sync?anchor=x%26wait%3D25")
        #expect(try request("synchronize", [])?.request.head.path == "/sync")
    }

    @Test("are none where the path misses an argument")
    func missing() throws {
        #expect(try request("showStream", []) == nil)
        #expect(try request("showStream", [JSONMember(name: "stream", value: .string(""))]) == nil)
        #expect(try request("showStream", [JSONMember(name: "stream", value: .null)]) == nil)
    }

    @Test("send a structure as the body")
    func body() async throws {
        let receipts = JSONMember(name: "receipts", value: .object(["read_through": .integer(2)]))
        let found = try #require(
            try request("raiseReceipts", [JSONMember(name: "stream", value: .string("s")), receipts]))
        #expect(found.request.method == .post)
        #expect(found.request.headers[.contentType] == "application/json")
        #expect(found.request.headers[.contentLength] == "18")
        #expect(String(buffer: try await found.request.body.collect(upTo: 100)) == #"{"read_through":2}"#)
    }

    @Test("run one after the other on a channel, and at once on several")
    func order() {
        var calls = HeraldCallQueue()
        func started() -> [ChannelTable.Message] {
            calls.start { ResponseCarrier(.roomy, on: EmbeddedChannel()) }.map(\.call)
        }
        let call = { (instance: UInt64, text: UInt8) in
            ChannelTable.Message(channel: UInt8(instance), instance: instance, payload: [text])
        }
        for text in 1...3 as ClosedRange<UInt8> { calls.add(call(1, text)) }
        calls.add(call(2, 9))
        #expect(started() == [call(1, 1), call(2, 9)])
        #expect(started().isEmpty)
        calls.end(call(1, 1))
        #expect(started() == [call(1, 2)])
        #expect(!calls.isFull)
        for _ in 1...5 { calls.add(call(3, 0)) }
        #expect(calls.isFull)
        calls.dropAll()
        #expect(!calls.isFull && !calls.isEmpty)
        calls.end(call(1, 2))
        calls.end(call(2, 9))
        #expect(calls.isEmpty)
    }
}
