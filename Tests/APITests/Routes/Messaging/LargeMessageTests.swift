import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Herald
import Hummingbird
import NIOCore
import NIOEmbedded
import Operations
import Testing

@testable import API

/// A message has 64 KiB of content, however its request is written. Its route has a bound of its own.
@Suite("A large message", .timeLimit(.minutes(5)))
struct LargeMessageTests {
    private static let image = [UInt8](repeating: 255, count: 65_536)

    private static func message(_ type: String, _ member: String, _ content: String) -> String {
        #"{"id":"\#(UUID().uuidString.lowercased())","parts":[{"type":"\#(type)","\#(member)":"\#(content)"}]}"#
    }

    private static func escapes(_ escape: String, _ count: Int) -> String {
        message("text/plain", "body", String(repeating: escape, count: count))
    }

    /// Messages of exactly 64 KiB.
    private static let largest = [
        message("image/png", "body_base64", Base64URL.encode(image)), escapes(#"\u00e9"#, 32_768),
        escapes(#"\u0041"#, 65_536), escapes("é", 32_768),
    ]

    private static func stream(_ person: SignedIn) async throws -> String {
        let id = UUID().uuidString.lowercased()
        let opened = try await person.send("POST /streams", json: #"{"id":"\#(id)","kind":"conversation"}"#)
        #expect(opened.status == 201, "\(opened)")
        return id
    }

    private static func headers(_ person: SignedIn, _ length: Int?) -> HTTPFields {
        var headers: HTTPFields = [
            .authorization: "Layer session-token=\"\(person.token)\"", .contentType: "application/json",
        ]
        if let length { headers[.contentLength] = "\(length)" } else { headers[.transferEncoding] = "chunked" }
        return headers
    }

    private static func send(
        _ message: String, to stream: String, by person: SignedIn, isChunked: Bool = false
    ) async throws -> Reply {
        try await person.bench.send(
            .client, "POST /streams/\(stream)/events", headers: headers(person, isChunked ? nil : message.utf8.count),
            body: RequestBody(buffer: ByteBuffer(string: message)), on: person.connection)
    }

    @Test("has 64 KiB of content: bytes in base64url, escapes and text")
    func content() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.verified("ann", 1)
            let stream = try await Self.stream(person)
            for (index, message) in Self.largest.enumerated() {
                let reply = try await Self.send(message, to: stream, by: person)
                #expect(reply.status == 201, "\(index): \(reply)")
                let again = try await Self.send(message, to: stream, by: person)
                #expect(again.body == reply.body, "\(index)")
                // Memory for a body of unknown length would be claimed before its sender is known.
                #expect(try await Self.send(message, to: stream, by: person, isChunked: true).status == 413)
            }
            let small = try await Self.send(Self.escapes("x", 100), to: stream, by: person, isChunked: true)
            #expect(small.status == 201)
            for message in [Self.escapes("é", 32_769), Self.escapes(#"\u0041"#, 65_537)] {
                let reply = try await Self.send(message, to: stream, by: person)
                #expect(reply.status == 413 && reply.text("detail") == Refusal.partsTooLarge(allowed: 65_536).detail)
            }
            #expect(bench.listeners.accounts.claimed == 0)
            let page = try await person.send("GET /streams/\(stream)/events?after=0")
            guard case .array(let events) = page["events"] else { throw Refusal(.notFound, "no events") }
            #expect(events.count == 5 && page["more"] == .bool(false))
            let parts = events.compactMap { event -> JSONValue? in
                guard case .array(let parts) = event["parts"] else { return nil }
                return parts.first
            }
            #expect(parts.first?["body_base64"]?.text.flatMap(Base64URL.decode) == Self.image)
            #expect(parts.dropFirst().map { $0["body"]?.text?.utf8.count } == [65_536, 65_536, 65_536, 100])
        }
    }

    @Test("is read in pages of 512 KiB, each with one message at least")
    func pages() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.verified("ann", 1)
            let stream = try await Self.stream(person)
            // Control characters are written with escapes in every response.
            for _ in 0..<3 {
                let sent = try await Self.send(Self.escapes(#"\u0001"#, 65_536), to: stream, by: person)
                #expect(sent.status == 201, "\(sent)")
            }
            for number in 0..<3 {
                let page = try await person.send("GET /streams/\(stream)/events?after=\(number)")
                guard case .array(let events) = page["events"] else { throw Refusal(.notFound, "no events") }
                #expect(events.count == 1 && events.first?["sequence"] == .integer(Int64(number + 1)))
                #expect(page["more"] == .bool(number < 2) && page.body.count <= Service.MessagePage.largest)
            }
        }
    }

    @Test("is refused above its route's bound before it is read, and every other route keeps the policy's bound")
    func bounds() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            for listener in ListenerName.allCases {
                for (route, call) in bench.directory.calls(on: listener) {
                    let isMessage = route == "POST /streams/{id}/events"
                    #expect((call.largestBody != nil) == isMessage, "\(route)")
                    let bound = isMessage ? MessageBody.largestJSON : 65_536
                    for (length, isRefused) in [(bound, false), (bound + 1, true)] {
                        let reply = try await bench.send(
                            listener, "\(route.prefix { $0 != " " }) \(EveryRouteTests.path(route))",
                            headers: Self.headers(person, length),
                            on: listener == .client ? person.connection : nil)
                        #expect(
                            (reply.text("detail") == Refusal.bodyLarger(than: bound).detail) == isRefused, "\(route)")
                    }
                }
            }
        }
    }

    @Test("needs no more memory than a certificate's large messages and responses may have, while its body arrives")
    func memory() async throws {
        let policy = RouterBench.policy { $0.requests.unsentPerCertificate = 500_000 }
        try await RouterBench.run(policy) { bench in
            let person = try await bench.verified("ann", 1)
            let (stream, accounts) = (try await Self.stream(person), bench.listeners.accounts)
            let message = Self.largest[2]
            let (body, sender) = AsyncStream.makeStream(of: ByteBuffer.self)
            async let first = bench.send(
                .client, "POST /streams/\(stream)/events", headers: Self.headers(person, message.utf8.count),
                body: RequestBody(asyncSequence: body), on: person.connection)
            try await until("nothing is claimed") { accounts.claimed == message.utf8.count }
            let second = try await Self.send(message, to: stream, by: person)
            #expect(second.status == 429 && second.code == "rate_limited", "\(second)")
            second.judge()
            // Small messages need no claim.
            #expect(try await Self.send(Self.escapes("x", 100), to: stream, by: person).status == 201)
            sender.yield(ByteBuffer(string: message))
            sender.finish()
            #expect(try await first.status == 201)
            #expect(accounts.claimed == 0)
            #expect(try await Self.send(message, to: stream, by: person).status == 201)
        }
    }

    @Test("has as much content in a call of Herald")
    func herald() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.verified("ann", 1)
            let (stream, interface) = (try await Self.stream(person), ThriftInterface.herald)
            let function = try #require(interface.functions["appendEvent"])
            let calls = HeraldCalls { try await bench.respondToClient($0, $1) }
            let carrier = ResponseCarrier(.roomy, on: NIOAsyncTestingChannel())
            for (content, isAccepted) in Self.largest.map({ ($0, true) }) + [(Self.escapes("é", 32_769), false)] {
                let event = try StrictJSON.parse(content.utf8)
                let fields = try zip(function.arguments, [.string(stream), event]).map { field, value in
                    ThriftField(field.id, try #require(interface.value(value, as: field.kind)))
                }
                let message = ThriftMessage(.call, name: function.name, sequence: 1, body: fields)
                #expect(message.bytes.count <= MessageBody.largestBinary)
                let outcome = await CurrentConnection.$current.withValue(CurrentConnection(value: person.connection)) {
                    await ResponseCarrier.$current.withValue(carrier) {
                        await calls.answer(
                            message.bytes, token: person.token, on: NIOAsyncTestingChannel(), logger: bench.logger)
                    }
                }
                guard case .answer(let bytes) = outcome else {
                    Issue.record("no answer")
                    continue
                }
                let answer = try ThriftReader.message(bytes)
                #expect(answer.kind == .reply)
                let refusal = interface.members(answer.body, as: [try #require(function.refusal)]).first?.value
                #expect((refusal == nil) == isAccepted, "\(refusal?.jsonText ?? "")")
                #expect(isAccepted || refusal?["status"] == .integer(413))
            }
        }
    }
}
