import CountersignClient
import Fixtures
import Foundation
import Testing

@testable import CountersignSync

/// What is sent for which local changes, case by case.
@Suite("The plan of a synchronization")
struct SynchronizerTests {
    private static let stream = UUID()
    private static let user = UUID()
    private static let message = NewMessage([.text("hello")])
    private static let opening = StreamOpening(.conversation, members: ["devices/bob"], id: stream)
    private static let append = OutboundEvent.append(message, stream: stream)

    private static func conversation(_ column: String?, _ change: (inout Synchronizer.Conversation) -> Void = { _ in })
        -> Synchronizer.Subject
    {
        var one = Synchronizer.Conversation(stream: stream, opening: opening)
        change(&one)
        return .conversation(one, column: column)
    }

    private static func subject(
        isSent: Bool = false, isDeleted: Bool = false, column: String? = nil,
        _ change: (inout Synchronizer.Message) -> Void = { _ in }
    ) -> Synchronizer.Subject {
        var one = Synchronizer.Message(stream: stream, message: message, isSent: isSent, isDeleted: isDeleted)
        change(&one)
        return .message(one, column: column)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let changes: [(Synchronizer.ChangeType, Synchronizer.Subject)]
        var pending: [Synchronizer.Pending] = []
        var plan = Synchronizer.Plan()
    }

    static let cases: [Case] = [
        Case(testDescription: "nothing", changes: []),
        Case(testDescription: "a row that is gone", changes: [(.insert, .nothing)]),
        Case(
            testDescription: "a conversation and its first message",
            changes: [(.insert, conversation(nil)), (.insert, subject())],
            plan: .init(events: [.open(opening), append])),
        Case(
            testDescription: "two readings are the last one",
            changes: [
                (.update, conversation("read_through") { $0.readThrough = 3 }),
                (.update, conversation("read_through") { $0.readThrough = 5 }),
            ], plan: .init(events: [.read(through: 5, stream: stream)])),
        Case(
            testDescription: "metadata are what differs",
            changes: [
                (
                    .update,
                    conversation("metadata") {
                        $0.known.shared = .object([
                            "a": .integer(1), "b": .object(["c": .text("x"), "d": .bool(true)]),
                        ])
                        $0.shown.shared = .object(["b": .object(["c": .text("y"), "d": .bool(true)])])
                    }
                )
            ],
            plan: .init(events: [
                .share(.object(["a": .null, "b": .object(["c": .text("y")])]), stream: stream)
            ])),
        Case(
            testDescription: "private metadata are apart",
            changes: [(.update, conversation("private_metadata") { $0.shown.own = .object(["muted": .bool(true)]) })],
            plan: .init(events: [.keep(.object(["muted": .bool(true)]), stream: stream)])),
        Case(
            testDescription: "a change that is taken back before it was sent",
            changes: [(.update, conversation("metadata"))]),
        Case(
            testDescription: "a change that is taken back, and that the service may have",
            changes: [
                (
                    .update,
                    conversation("metadata") {
                        $0.known.shared = .object(["b": .integer(1)])
                        $0.shown.shared = $0.known.shared
                    }
                )
            ],
            pending: [.init(event: .share(.object(["a": .integer(1), "b": .null]), stream: stream), tries: 1)],
            plan: .init(events: [
                .share(.object(["a": .null, "b": .integer(1)]), stream: stream)
            ])),
        Case(
            testDescription: "metadata of a message are what differs, each visibility by itself",
            changes: [
                (
                    .update,
                    subject(isSent: true, column: "metadata") {
                        $0.known.shared = .object(["heart": .integer(1), "by": .text("bob")])
                        $0.shown.shared = .object(["heart": .integer(2), "by": .text("bob")])
                    }
                ), (.update, subject(column: "private_metadata") { $0.shown.own = .object(["later": .bool(true)]) }),
            ],
            plan: .init(events: [
                .share(.object(["heart": .integer(2)]), message: message.id, stream: stream),
                .keep(.object(["later": .bool(true)]), message: message.id, stream: stream),
            ])),
        Case(
            testDescription: "those of a message that waits follow it",
            changes: [
                (.insert, subject()),
                (.update, subject(column: "metadata") { $0.shown.shared = .object(["a": .integer(1)]) }),
            ],
            plan: .init(events: [append, .share(.object(["a": .integer(1)]), message: message.id, stream: stream)])),
        Case(
            testDescription: "a member who is added and removed is removed",
            changes: [
                (.insert, .participant(user: user, stream: stream, isPresent: true)),
                (.update, .participant(user: user, stream: stream, isPresent: false)),
            ], plan: .init(events: [.remove(user: user, stream: stream)])),
        Case(
            testDescription: "a message that is deleted before anybody saw it",
            changes: [(.insert, subject()), (.delete, subject(isDeleted: true))],
            plan: .init(discarded: [message.id])),
        Case(
            testDescription: "one that waits and was never sent",
            changes: [(.delete, subject(isDeleted: true))], pending: [.init(event: append, tries: 0)],
            plan: .init(withdrawn: [append], discarded: [message.id])),
        Case(
            testDescription: "one that waits with its metadata",
            changes: [(.delete, subject(isDeleted: true) { $0.isDeletedForUser = true })],
            pending: [
                .init(event: append, tries: 0),
                .init(event: .keep(.object(["a": .null]), message: message.id, stream: stream), tries: 0),
                .init(event: .keep(.object(["a": .null]), stream: stream), tries: 0),
            ],
            plan: .init(
                withdrawn: [append, .keep(.object(["a": .null]), message: message.id, stream: stream)],
                discarded: [message.id])),
        Case(
            testDescription: "one that is deleted for the user only",
            changes: [(.delete, subject(isSent: true, isDeleted: true) { $0.isDeletedForUser = true })],
            plan: .init(events: [.deleteForMe(message.id, stream: stream)])),
        Case(
            testDescription: "one that the service may have",
            changes: [(.delete, subject(isDeleted: true))], pending: [.init(event: append, tries: 1)],
            plan: .init(events: [.deleteMessage(message.id, stream: stream)])),
        Case(
            testDescription: "one that the service has",
            changes: [(.delete, subject(isSent: true, isDeleted: true))],
            plan: .init(events: [.deleteMessage(message.id, stream: stream)])),
        Case(
            testDescription: "a conversation that is deleted before it was opened",
            changes: [(.insert, conversation(nil)), (.insert, subject()), (.delete, conversation(nil))],
            plan: .init(abandoned: [stream])),
        Case(
            testDescription: "one whose opening waits",
            changes: [(.delete, conversation(nil))],
            pending: [.init(event: .open(opening), tries: 0), .init(event: append, tries: 0)],
            plan: .init(withdrawn: [append, .open(opening)], abandoned: [stream])),
        Case(
            testDescription: "one that may be open: what waits for it goes",
            changes: [(.delete, conversation(nil))],
            pending: [.init(event: .open(opening), tries: 2), .init(event: append, tries: 0)],
            plan: .init(events: [.deleteStream(stream)], withdrawn: [append])),
    ]

    @Test("sends one event for all changes of one thing", arguments: cases)
    func outbound(one: Case) {
        let changes = one.changes.enumerated().map { number, change in
            Synchronizer.Change(number: Int64(number + 1), type: change.0, subject: change.1)
        }
        #expect(Synchronizer.outbound(changes.reversed(), pending: one.pending) == one.plan)
    }

    @Test("fetches the newest page of what is new, what is behind of the rest, and nothing that is closed")
    func fetches() {
        let streams = (0..<4).map { _ in UUID() }
        let found = Synchronizer.fetches([
            .init(stream: streams[0], last: 9, through: 0, isReadable: true),
            .init(stream: streams[1], last: 9, through: 7, isReadable: true),
            .init(stream: streams[2], last: 9, through: 9, isReadable: true),
            .init(stream: streams[3], last: 9, through: 0, isReadable: false),
        ])
        #expect(found == [.newest(streams[0]), .after(streams[1], 7)])
    }

    private static func problem(_ status: Int, _ code: String, state: String? = nil) throws -> Refusal {
        let words = ["\"status\":\(status)", "\"code\":\"\(code)\""] + (state.map { ["\"state\":\"\($0)\""] } ?? [])
        let text = "{\(words.joined(separator: ","))}"
        return .service(try JSONDecoder().decode(Problem.self, from: Data(text.utf8)))
    }

    @Test("sends again what may have been lost, and nothing that is refused for good")
    func outcomes() throws {
        let append = Self.append
        let delete = OutboundEvent.deleteMessage(Self.message.id, stream: Self.stream)
        let later: [Refusal] = [
            .unreachable(""), .unanswered(""), .uncertified, .signedOut, .cancelled, .storage(.full),
            try Self.problem(503, "unavailable"), try Self.problem(429, "rate_limited"),
            try Self.problem(401, "session_expired"), .notRenewed(.refused(try Self.problem(403, "user_banned"))),
        ]
        for refusal in later { #expect(Synchronizer.outcome(of: refusal, for: append) == .later, "\(refusal)") }
        let conflict = try Self.problem(409, "conflict", state: "closed")
        #expect(Synchronizer.outcome(of: conflict, for: append) == .refused("closed"))
        #expect(Synchronizer.outcome(of: conflict, for: .read(through: 1, stream: Self.stream)) == .done)
        let deleted = try Self.problem(409, "conflict", state: "deleted")
        #expect(Synchronizer.outcome(of: deleted, for: append) == .done)
        let unknown = try Self.problem(404, "not_found")
        let forMe = OutboundEvent.deleteForMe(Self.message.id, stream: Self.stream)
        #expect(Synchronizer.outcome(of: unknown, for: forMe) == .done)
        #expect(Synchronizer.outcome(of: conflict, for: forMe) == .refused("conflict"))
        #expect(Synchronizer.outcome(of: unknown, for: append) == .refused("not_found"))
        #expect(Synchronizer.outcome(of: unknown, for: delete) == .done)
        #expect(Synchronizer.outcome(of: try Self.problem(403, "user_banned"), for: delete) == .refused("user_banned"))
    }

    @Test("knows another life of the service's store by the anchor")
    func restarts() {
        let cases = [
            ("0", "a.1", false), ("a.1", "a.2", false), ("a.9", "b.1", true), ("a.9", "0", true),
            ("a.9.17", "a.1.18", false), ("a.9.17", "b.1.18", true),
        ]
        for (old, new, isRestart) in cases {
            #expect(Synchronizer.isRestart(from: old, to: new) == isRestart, "\(old) \(new)")
        }
    }

    @Test("merges metadata as RFC 7396 does, and finds the patch between two values")
    func metadata() throws {
        // RFC 7396 Appendix A: target, patch, result.
        let vectors = [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
            ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ]
        func read(_ text: String) throws -> MetadataValue {
            try JSONDecoder().decode(MetadataValue.self, from: Data(text.utf8))
        }
        for (target, patch, result) in vectors {
            let (target, wanted) = (try read(target), try read(result))
            #expect(target.merged(with: try read(patch)) == wanted)
            #expect(target.merged(with: target.patch(to: wanted)) == wanted)
        }
        let pending: [OutboundEvent] = [
            .share(.object(["a": .integer(2)]), stream: Self.stream), .keep(.object(["a": .null]), stream: Self.stream),
        ]
        let base = MetadataValue.object(["a": .integer(1), "b": .number(0.5)])
        #expect(Synchronizer.shown(base, pending, .shared) == .object(["a": .integer(2), "b": .number(0.5)]))
        #expect(Synchronizer.shown(base, pending, .own) == .object(["b": .number(0.5)]))
        let id = Self.message.id
        let ofMessage = OutboundEvent.share(.object(["a": .integer(3)]), message: id, stream: Self.stream)
        #expect(Synchronizer.shown(base, pending + [ofMessage], .shared)["a"] == .integer(2))
        #expect(Synchronizer.shown(base, pending + [ofMessage], .shared, of: id)["a"] == .integer(3))
    }

    /// An object of random values without `null`, or a patch.
    private static func object(_ random: inout SeededRandom, depth: Int = 3, isPatch: Bool) -> MetadataValue {
        var members: [String: MetadataValue] = [:]
        for name in ["a", "b", "c"] {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: members[name] = .integer(Int64.random(in: 0..<2, using: &random))
            case 1 where isPatch: members[name] = .null
            case 2, 3: if depth > 0 { members[name] = object(&random, depth: depth - 1, isPatch: isPatch) }
            default: continue
            }
        }
        return .object(members)
    }

    @Test("finds a patch that leads to the shown metadata, whether or not the service has the earlier patch")
    func replacedPatches() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<2000 {
            let known = Self.object(&random, isPatch: false)
            let pending = Self.object(&random, isPatch: true)
            let shown = Self.object(&random, isPatch: false)
            let patch = known.patch(to: shown, replacing: pending)
            #expect(known.merged(with: patch) == shown && known.merged(with: pending).merged(with: patch) == shown)
        }
    }
}
