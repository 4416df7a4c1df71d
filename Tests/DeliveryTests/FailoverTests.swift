import Domain
import Encoding
import Fixtures
import Foundation
import Synchronization
import Testing

@testable import Delivery

/// Says what it was told to, and remembers that it was asked.
private final class Scripted: Sender {
    let name: String
    private let outcome: DeliveryOutcome
    private let texts: Bool
    private let asked = Mutex<[UUID]>([])

    init(_ name: String, _ outcome: DeliveryOutcome, texts: Bool = true) {
        self.name = name
        self.outcome = outcome
        self.texts = texts
    }

    var ids: [UUID] { asked.withLock { $0 } }

    func carries(_ message: Message) -> Bool {
        if case .text = message { texts } else { true }
    }

    func send(_ message: Message, id: UUID) async -> DeliveryOutcome {
        asked.withLock { $0.append(id) }
        return outcome
    }
}

@Suite("Ordered failover")
struct FailoverTests {
    private let outcomes: [DeliveryOutcome] = [
        .sent(reference: "r"), .refused(reason: "x"), .unavailable(reason: "y"), .endpointGone,
    ]

    @Test("The next sender is asked after unavailable and only then: every chain of up to four senders")
    func everyChain() async throws {
        let message = Message.text(to: try number("2201"), body: "b")
        for length in 1...4 {
            for code in 0..<Int(pow(4.0, Double(length))) {
                let chain = (0..<length).map { Scripted("s\($0)", outcomes[code >> (2 * $0) & 3]) }
                let id = UUID()
                let outcome = await Failover(chain).send(message, id: id)
                let planned = (0..<length).map { outcomes[code >> (2 * $0) & 3] }
                let last = planned.firstIndex { if case .unavailable = $0 { false } else { true } }
                for (index, sender) in chain.enumerated() {
                    #expect(sender.ids == (index <= last ?? length ? [id] : []))
                }
                switch last.map({ planned[$0] }) {
                case .sent?: #expect(outcome == .sent(reference: "s\(last ?? 0):r"))
                case .refused?: #expect(outcome == .refused(reason: "s\(last ?? 0): x"))
                case .endpointGone?: #expect(outcome == .endpointGone)
                case .receiverGone?: #expect(outcome == .receiverGone)
                case .unavailable?, nil:
                    let reasons = (0..<length).map { "s\($0): y" }.joined(separator: "; ")
                    #expect(outcome == .unavailable(reason: reasons))
                }
            }
        }
    }

    @Test("A receiver's Retry-After is heeded if no other sender may be asked earlier")
    func asked() async throws {
        let message = Message.text(to: try number("2201"), body: "b")
        let busy = (1...2).map { Scripted("s\($0)", .unavailable(reason: "y", retryAfter: Double($0) * 20)) }
        let down = Scripted("d", .unavailable(reason: "z"))
        #expect(await Failover(busy).send(message, id: UUID()) == .unavailable(reason: "s1: y; s2: y", retryAfter: 20))
        #expect(await Failover(busy + [down]).send(message, id: UUID()) == .unavailable(reason: "s1: y; s2: y; d: z"))
    }

    @Test("The operator's receiver says with 429 and 503 when it takes the next message")
    func receiver() {
        for status in [UInt(429), 503] {
            #expect(
                WebhookSender.outcome(
                    of: .answered(status: status, body: nil), to: .push(endpoint: "e", payload: "p"), retryAfter: 20,
                    id: "")
                    == .unavailable(reason: "HTTP \(status)", retryAfter: 20))
        }
        #expect(
            WebhookSender.outcome(
                of: .answered(status: 500, body: nil), to: .push(endpoint: "e", payload: "p"), retryAfter: 20, id: "")
                == .unavailable(reason: "HTTP 500"))
    }

    @Test("A sender that does not carry the kind of message is passed over")
    func kinds() async throws {
        let (first, second) = (Scripted("a", .refused(reason: "x"), texts: false), Scripted("b", .sent(reference: "r")))
        let sender = Failover([first, second])
        #expect(try await sender.send(.text(to: number("2201"), body: "b")) == .sent(reference: "b:r"))
        #expect(first.ids.isEmpty)
        #expect(await sender.send(.push(endpoint: "e", payload: "p")) == .refused(reason: "a: x"))
        #expect(await Failover([]).send(.push(endpoint: "e", payload: "p")).isRefused)
    }

    @Test("From a webhook that is down to Twilio, and from a Twilio that hangs to the file")
    func real() async throws {
        let scratch = try ScratchDirectory()
        let (twilio, webhook) = (try await Stations.twilio.value, try await Stations.webhook.value)
        var policy = DeliveryPolicy()
        policy.senders = [
            SenderEntry(kind: "webhook", values: ["url": webhook.url() + "/500"]),
            SenderEntry(
                kind: "twilio",
                values: [
                    "account": twilio.text("account"), "endpoint": twilio.url(),
                    "messaging_service": "MG" + String(repeating: "0", count: 32),
                ]),
            SenderEntry(kind: "file"),
        ]
        policy.attemptTimeout = 2
        let secrets = ["webhook.secret": webhook.texts("secrets")[0], "twilio.secret": twilio.text("token")]
        let sender = try SenderFactory(
            policy, secret: { secrets[$0] ?? "" }, environment: [:], texts: scratch.file("texts.jsonl"),
            isLoopbackOnly: true, http: Stations.http, now: { Date(timeIntervalSince1970: 0) }
        ).make(policy.senders)
        #expect(sender.senders.map(\.name) == ["webhook", "twilio", "file"])
        #expect(
            try await sender.send(.text(to: number("2401"), body: "To Twilio"))
                == .sent(reference: "twilio:\(twilio.text("sid"))"))
        #expect(try await twilio.seen().contains { $0.contains("To Twilio") && $0.contains("MessagingServiceSid") })
        #expect(!FileManager.default.fileExists(atPath: scratch.file("texts.jsonl")))
        #expect(try await sender.send(.text(to: number("2000"), body: "To the file")) == .sent(reference: "file:line"))
        #expect(
            try scratch.text("texts.jsonl")
                == "{\"to\":\"+14155552000\",\"text\":\"To the file\",\"sent_at\":\"1970-01-01T00:00:00Z\"}\n")
        #expect(try await sender.send(.text(to: number("2211"), body: "x")).isRefused)
        // Pushes pass Twilio over.
        #expect(await sender.send(.push(endpoint: "arn", payload: "{}")) == .sent(reference: "file:line"))
    }
}

@Suite("The file of texts")
struct TextFileTests {
    private let now: @Sendable () -> Date = { Date(timeIntervalSince1970: 1_000_000_000) }

    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test("Lines are whole, whoever else writes, and only the owner reads them")
    func lines() async throws {
        let scratch = try ScratchDirectory()
        let path = scratch.file("texts.jsonl")
        try Data().write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let to = try number("2201")
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let sender = TextFile(path: path, now: now)
                    #expect(await sender.send(.text(to: to, body: "line \(index)\n\"é\"")).isSent)
                }
            }
        }
        #expect(try mode(path) == 0o600)
        let lines = try scratch.text("texts.jsonl").split(separator: "\n")
        let texts = try lines.map { try StrictJSON.parse($0.utf8) }
        #expect(texts.count == 200)
        #expect(texts.allSatisfy { $0["to"]?.text == "+14155552201" && $0["sent_at"]?.text == "2001-09-09T01:46:40Z" })
        #expect(Set(texts.compactMap { $0["text"]?.text }) == Set((0..<200).map { "line \($0)\n\"é\"" }))
    }

    @Test("What is no file of its own is left alone")
    func foreign() async throws {
        let scratch = try ScratchDirectory()
        let message = Message.text(to: try number("2201"), body: "x")
        try scratch.write("kept", "target")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("link"), withDestinationPath: scratch.file("target"))
        for path in [scratch.file("link"), scratch.path, "/dev/null", scratch.file("none/texts")] {
            guard case .unavailable = await TextFile(path: path, now: now).send(message) else {
                Issue.record("\(path) was written")
                continue
            }
        }
        #expect(try scratch.text("target") == "kept")
        #expect(try mode("/dev/null") != 0o600)
    }
}
