import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Operations
@testable import Repositories

@Suite("A filtered list of streams")
struct StreamFilterTests {
    private static let indexed = ["topic", "pinned"]

    private static func run(
        on kind: StoreKind = .usual, _ body: (MessageBench) async throws -> Void
    ) async throws {
        try await MessageBench.run(on: kind) {
            $0.streams.conversationRequires = .provider
            $0.streams.indexedMetadata = indexed
        } _: {
            try await body($0)
        }
    }

    private static func change(_ text: String) throws -> Service.MetadataChange {
        .set(try StreamMetadata(try StrictJSON.parse(text.utf8), about: .newMetadata, within: .stream))
    }

    private static func list(
        _ bench: MessageBench, _ session: Session, kind: String? = nil, member: String? = nil,
        _ metadata: [String: String] = [:]
    ) async throws -> [String] {
        let filter = try MessageStreamFilter(
            kind: kind, cursor: nil, member: member, metadata: metadata.map { ($0.key, $0.value) }, indexed: indexed)
        let page = try await bench.context.listMessageStreams(filter, for: session)
        #expect(page.cursor == nil)
        return page.views.map(\.stream.id.description)
    }

    @Test("has the streams with a member, by user id or address, and nothing for others", arguments: StoreKind.shared)
    func members(kind: StoreKind) async throws {
        try await Self.run(on: kind) { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let (eve, mallory) = (
                try await bench.people.person("eve"), try await bench.people.person("mallory", at: "other")
            )
            let both = try await bench.open("conversation", [bob, eve], by: ann)
            let one = try await bench.open("conversation", [eve], by: ann)
            _ = try await bench.open("conversation", by: bob)
            for name in [bob.userID.description, "test/bob"] {
                #expect(try await Self.list(bench, ann, member: name) == [both])
            }
            #expect(try await Self.list(bench, ann, member: "test/eve") == [one, both])
            #expect(try await Self.list(bench, ann, kind: "direct", member: "test/eve").isEmpty)
            #expect(try await Self.list(bench, ann, member: "test/ann") == [one, both])
            for name in [mallory.userID.description, "other/mallory", "test/nobody", "none/x", UUID().uuidString] {
                #expect(try await Self.list(bench, ann, member: name).isEmpty, "\(name)")
            }
            try await bench.remove(eve, from: both, by: ann)
            #expect(try await Self.list(bench, ann, member: "test/eve") == [one])
            #expect(try await Self.list(bench, bob, member: "test/eve").isEmpty)
            #expect(try await Self.list(bench, eve, member: "test/ann") == [one])
            try await bench.add(eve, to: both, by: ann)
            #expect(try await Self.list(bench, eve, member: "test/bob") == [both])
        }
    }

    @Test("has the streams whose metadata has a value, and follows each change of it", arguments: StoreKind.shared)
    func metadata(kind: StoreKind) async throws {
        try await Self.run(on: kind) { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let stream = try await bench.open("conversation", [bob], by: ann)
            let opening = try StreamOpening(
                id: UUID().uuidString, kind: "conversation", members: nil, title: nil, description: nil, imageURL: nil,
                metadata: try StrictJSON.parse(#"{"topic":"news","pinned":{"deep":1}}"#.utf8))
            let opened = try await bench.context.openMessageStream(opening, for: ann).id.description
            let topic = "metadata.shared.topic"
            #expect(try await Self.list(bench, ann, [topic: "news"]) == [opened])
            for (change, value) in [
                (#"{"topic":"Öl & \"gas\"","other":"x"}"#, #"Öl & "gas""#), (#"{"topic":7}"#, "7"),
                (#"{"topic":1.5}"#, "1.5"), (#"{"topic":true}"#, "true"), (#"{"topic":""}"#, ""),
                (#"{"topic":"\#(String(repeating: "x", count: 256))"}"#, String(repeating: "x", count: 256)),
            ] {
                _ = try await bench.context.changeSharedMetadata(try Self.change(change), in: stream, for: bob)
                for person in [ann, bob] {
                    #expect(try await Self.list(bench, person, [topic: value]).contains(stream), "\(change)")
                    #expect(try await Self.list(bench, person, [topic: value.dropLast() + "-"]).isEmpty)
                }
            }
            for change in [
                #"{"topic":null}"#, #"{"topic":["news"]}"#, #"{"topic":"\#(String(repeating: "x", count: 257))"}"#,
                "{}",
            ] {
                _ = try await bench.context.changeSharedMetadata(try Self.change(change), in: stream, for: ann)
                #expect(try await Self.list(bench, ann, [topic: "news"]) == [opened], "\(change)")
                #expect(try await Self.list(bench, ann, [topic: "null"]).isEmpty)
            }
            let merge = Service.MetadataChange.merge(try StrictJSON.parse(#"{"topic":"news"}"#.utf8))
            _ = try await bench.context.changeSharedMetadata(merge, in: stream, for: ann)
            #expect(try await Self.list(bench, ann, [topic: "news"]).count == 2)
            // Private metadata is found by its owner only.
            let pinned = "metadata.private.pinned"
            _ = try await bench.context.changeOwnMetadata(
                try Self.change(#"{"pinned":true,"topic":"mine"}"#), in: stream, for: bob)
            #expect(try await Self.list(bench, bob, [pinned: "true", topic: "news"]) == [stream])
            #expect(try await Self.list(bench, bob, [topic: "mine"]).isEmpty)
            #expect(try await Self.list(bench, ann, [pinned: "true"]).isEmpty)
            try await bench.remove(bob, from: stream, by: ann)
            #expect(try await Self.list(bench, bob, [pinned: "true"]).isEmpty)
            #expect(try await Self.list(bench, bob, [topic: "news"]).isEmpty)
            try await bench.add(bob, to: stream, by: ann)
            #expect(try await Self.list(bench, bob, [pinned: "true"]) == [stream])
            try await bench.context.deleteMessageStream(stream, for: ann)
            #expect(try await Self.list(bench, ann, [topic: "news"]) == [opened])
            #expect(try await bench.rows("stream_metadata") == 1)
        }
    }

    @Test("has nothing of a direct stream whose authorization has ended, and forums by shared metadata")
    func kinds() async throws {
        try await Self.run { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let permission = try await bench.permit(ann, bob)
            let topic = ["metadata.shared.topic": "news"]
            let direct = try await bench.open("direct", [bob], by: ann)
            let forums = [try await bench.open("forum", by: ann), try await bench.open("forum", by: ann)]
            for stream in [direct, forums[0]] {
                _ = try await bench.context.changeSharedMetadata(
                    try Self.change(#"{"topic":"news"}"#), in: stream, for: ann)
            }
            #expect(try await Self.list(bench, bob, topic) == [direct])
            #expect(try await Self.list(bench, bob, kind: "forum", topic) == [forums[0]])
            #expect(try await Self.list(bench, bob, kind: "forum").count == 2)
            _ = try await bench.people.context.cancelAuthorization(permission, for: ann)
            #expect(try await Self.list(bench, bob, topic).isEmpty)
            #expect(try await Self.list(bench, bob, member: "test/ann") == [direct])
        }
    }

    @Test("is refused by a name that is not declared, a value that is too long, and what forums do not have")
    func refused() throws {
        func refusal(
            kind: String? = nil, member: String? = nil, _ metadata: [(parameter: String, value: String)] = [],
            indexed: [String] = Self.indexed
        ) -> Refusal? {
            do throws(Refusal) {
                _ = try MessageStreamFilter(
                    kind: kind, cursor: nil, member: member, metadata: metadata, indexed: indexed)
                return nil
            } catch { return error }
        }
        let unknown = refusal([("metadata.shared.color", "x")])
        #expect(unknown?.code == .malformedRequest)
        #expect(unknown?.detail.contains("metadata.shared.color") == true)
        #expect(unknown?.detail.contains("topic, pinned") == true)
        #expect(refusal([("metadata.private.topic", "x")], indexed: [])?.detail.contains("indexes no metadata") == true)
        let long = String(repeating: "x", count: 257)
        #expect(refusal([("metadata.shared.topic", long)])?.detail.contains("256 bytes") == true)
        #expect(refusal([("metadata.shared.topic", String(long.dropLast()))]) == nil)
        for member in ["", "x", "test/", "/bob"] { #expect(refusal(member: member) != nil, "\(member)") }
        #expect(refusal(kind: "forum", member: "test/bob")?.detail == Refusal.filterOfForums.detail)
        #expect(refusal(kind: "forum", [("metadata.private.topic", "x")])?.detail == Refusal.filterOfForums.detail)
        #expect(refusal(kind: "forum", [("metadata.shared.topic", "x")]) == nil)
        let many = Array(repeating: (parameter: "metadata.shared.topic", value: "x"), count: 9)
        #expect(refusal(many)?.detail == Refusal.tooManyMetadataValues(allowed: 8).detail)
        #expect(refusal(many.dropLast()) == nil)
    }

    @Test("loses an erased user's private metadata, and others keep theirs", arguments: StoreKind.shared)
    func erasure(kind: StoreKind) async throws {
        try await Self.run(on: kind) { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let stream = try await bench.open("conversation", [bob], by: ann)
            for person in [ann, bob] {
                _ = try await bench.context.changeOwnMetadata(
                    try Self.change(#"{"pinned":true}"#), in: stream, for: person)
            }
            #expect(try await bench.rows("stream_metadata") == 2)
            _ = try await bench.context.erasePersonalData(for: ann)
            #expect(try await bench.rows("stream_metadata") == 1)
            #expect(try await Self.list(bench, bob, ["metadata.private.pinned": "true"]) == [stream])
            #expect(try await Self.list(bench, bob, member: ann.userID.description).isEmpty)
        }
    }

    @Test("finds values that were indexed under an earlier version of the key, and the store has none of them in clear")
    func sealed() async throws {
        let (first, second) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
        let old = MetadataIndex(keys: try PersonalKeys(wrapping: [1: first], index: [1: first]), names: Self.indexed)
        let new = MetadataIndex(
            keys: try PersonalKeys(wrapping: [1: first], index: [1: first, 2: second]), names: Self.indexed)
        let (user, provider) = (UserID(UUID()), ProviderID(UUID()))
        func indexes(_ index: MetadataIndex, _ isShared: Bool, _ value: String = "news") -> [Digest256] {
            index.sought(.init(isShared: isShared, name: "topic", value: value), by: user, at: provider).indexes
        }
        for isShared in [true, false] {
            #expect(indexes(new, isShared).count == 2)
            #expect(indexes(new, isShared).contains(try #require(indexes(old, isShared).first)))
            #expect(Set(indexes(new, isShared)).isDisjoint(with: indexes(new, isShared, "other")))
        }
        #expect(Set(indexes(new, true)).isDisjoint(with: indexes(new, false)))
        try await Self.run { bench in
            let (ann, mallory) = (
                try await bench.people.person("ann"), try await bench.people.person("mallory", at: "other")
            )
            for person in [ann, mallory] {
                let stream = try await bench.open("conversation", by: person)
                _ = try await bench.context.changeSharedMetadata(
                    try Self.change(#"{"topic":"news"}"#), in: stream, for: person)
            }
            let values: [[UInt8]] = try await bench.context.store.read {
                try $0.query("SELECT value FROM stream_metadata").map { try $0.bytes(0) }
            }
            #expect(values.count == 2 && Set(values).count == 2 && values.allSatisfy { $0.count == 32 })
        }
    }
}

extension MessageBench {
    /// How many rows a table has.
    func rows(_ table: String) async throws -> Int {
        try await context.store.read { Int(try $0.query("SELECT COUNT(*) FROM \(table)")[0].integer(0)) }
    }
}
