import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// What readers of streams see of members and senders.
@Suite("Profiles in streams")
struct PublicProfileTests {
    private static func all(_ bench: MessageBench, _ stream: String, for reader: Session) async throws
        -> Service.MessagePage
    {
        let range = try Service.MessageRange(after: "0", before: nil, limit: nil)
        return try await bench.context.readMessages(range, of: stream, for: reader)
    }

    /// A profile in a line: the address and the names that are shown.
    private static func line(_ profile: PublicProfile?) -> String {
        guard let profile else { return "-" }
        let picture = profile.pictureURL?.split(separator: "/").last.map(String.init)
        return [profile.address, profile.displayName, profile.initials, picture].map { $0 ?? "-" }
            .joined(separator: " ")
    }

    private static func lines(_ profiles: [PublicProfile?]) -> Set<String> { Set(profiles.map(line)) }

    @Test(
        "name the members by id and address, and by name, initials and picture from the level phone",
        arguments: StoreKind.shared)
    func members(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) {
            $0.streams.conversationRequires = .provider
            $0.streams.requiredLevel = .none
        } _: { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let cat = try await bench.people.person("cat", level: .none)
            let stream = try await bench.open("conversation", [bob, cat], by: ann)
            try await bench.send("x", to: stream, by: bob)
            func seen() async throws -> Set<String> {
                let shown = try await bench.show(stream, to: cat)
                let listed = try await bench.context.listMessageStreams(
                    MessageStreamFilter(kind: nil, cursor: nil), for: cat)
                let synchronized = try await bench.sync(for: cat).operations.compactMap(\.view)
                let lines = Self.lines(shown.members.map(\.profile))
                for view in listed.views + synchronized {
                    #expect(Self.lines(view.members.map(\.profile)) == lines && view.profiles.isEmpty)
                }
                return lines
            }
            let card = "test/ann Person ann MS ann.png"
            #expect(try await seen() == [card, "test/bob Person bob MS bob.png", "test/cat - - -"])
            try await bench.people.setLevel(.phone, of: bob)
            #expect(try await seen() == [card, "test/bob Person bob - bob.png", "test/cat - - -"])
            try await bench.people.setLevel(.none, of: bob)
            #expect(try await seen() == [card, "test/bob - - -", "test/cat - - -"])
            #expect(Self.lines(try await Self.all(bench, stream, for: cat).profiles) == ["test/bob - - -"])
        }
    }

    @Test("are ids and addresses alone by the policy `ids`")
    func ids() async throws {
        try await MessageBench.run {
            $0.streams.members = .ids
        } _: { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            try await bench.permit(ann, bob)
            for _ in 0..<2 { _ = try await bench.people.deliver() }
            let stream = try await bench.open("direct", [bob], by: ann)
            try await bench.send("x", to: stream, by: ann)
            let view = try await bench.show(stream, to: bob)
            #expect(Self.lines(view.members.map(\.profile)) == ["test/ann - - -", "test/bob - - -"])
            #expect(view.members.map(\.profile?.assurance) == [.barcode, .barcode])
            #expect(Self.lines(try await Self.all(bench, stream, for: bob).profiles) == ["test/ann - - -"])
            bench.people.clock.advance(PushMessages.patience)
            _ = try await bench.people.deliver()
            let push = try bench.people.pushes.data()
            #expect(push["address"]?.text == "test/ann" && push["display_name"] == nil && push["initials"] == nil)
        }
    }

    @Test("name senders in forums, and former members, each once", arguments: StoreKind.shared)
    func senders(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) {
            $0.streams.conversationRequires = .provider
        } _: { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let reader = try await bench.people.person("reader")
            let named = ["test/ann Person ann MS ann.png", "test/bob Person bob MS bob.png"]
            let forum = try await bench.open("forum", by: ann)
            for person in [ann, bob, ann, bob] { try await bench.send("x", to: forum, by: person) }
            let page = try await Self.all(bench, forum, for: reader)
            #expect(page.profiles.count == 2 && Self.lines(page.profiles) == Set(named))
            let forums = try await bench.context.listMessageStreams(
                MessageStreamFilter(kind: "forum", cursor: nil), for: reader)
            #expect(forums.views.map { Self.lines($0.profiles) } == [Set(named)])

            let stream = try await bench.open("conversation", [bob, reader], by: ann)
            for person in [ann, bob] { try await bench.send("x", to: stream, by: person) }
            for person in [ann, bob] { try await bench.remove(person, from: stream, by: person) }
            #expect(Self.lines(try await bench.show(stream, to: reader).profiles) == Set(named))
            #expect(Self.lines(try await Self.all(bench, stream, for: reader).profiles) == Set(named))
        }
    }

    @Test("show a removed user who wrote, and no name that was given since")
    func removed() async throws {
        try await MessageBench.run {
            $0.streams.conversationRequires = .provider
        } _: { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let stream = try await bench.open("conversation", [bob], by: ann)
            try await bench.send("x", to: stream, by: ann)
            try await bench.remove(bob, from: stream, by: ann)
            let view = try await bench.show(stream, to: bob)
            #expect(view.members.isEmpty && Self.lines(view.profiles) == ["test/ann - - -"])
            #expect(Self.lines(try await Self.all(bench, stream, for: bob).profiles) == ["test/ann - - -"])
        }
    }

    @Test("are hidden in a closed stream, and a block between members of a conversation changes none")
    func blocked() async throws {
        try await MessageBench.run { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            try await bench.permit(ann, bob)
            let direct = try await bench.open("direct", [bob], by: ann)
            let conversation = try await bench.open("conversation", [bob], by: ann)
            for stream in [direct, conversation] { try await bench.send("x", to: stream, by: ann) }
            let before = try await bench.show(conversation, to: bob).members.map { Self.line($0.profile) }
            try await bench.people.context.blockUser(bob.userID.description, for: ann)
            let closed = try await bench.show(direct, to: bob)
            #expect(closed.state == .closed && closed.profiles.isEmpty)
            #expect(closed.members.map { Self.line($0.profile) } == ["-", "-"])
            // Otherwise Bob would learn of the block.
            #expect(try await bench.show(conversation, to: bob).members.map { Self.line($0.profile) } == before)
        }
    }

    @Test("end with an erasure, in the answer after it", arguments: StoreKind.shared)
    func erased(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) {
            $0.streams.conversationRequires = .provider
        } _: { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let forum = try await bench.open("forum", by: ann)
            let stream = try await bench.open("conversation", [bob], by: ann)
            for place in [forum, stream] { try await bench.send("x", to: place, by: ann) }
            _ = try await bench.context.erasePersonalData(for: ann)
            for place in [forum, stream] {
                #expect(try await Self.all(bench, place, for: bob).profiles.isEmpty)
                let view = try await bench.show(place, to: bob)
                #expect(view.profiles.isEmpty && view.members.allSatisfy { $0.member.userID == bob.userID })
            }
        }
    }

    @Test("with long pictures make pages of streams shorter, and none is lost between pages")
    func pages() async throws {
        try await MessageBench.run {
            $0.streams.conversationRequires = .provider
        } _: { bench in
            let ann = try await bench.people.person("ann")
            var others: [Session] = []
            let (store, keys) = (bench.people.store, bench.people.keys)
            for number in 0..<24 {
                let other = try await bench.people.person("other\(number)")
                others.append(other)
                let picture = "https://pictures.example/" + String(repeating: "x", count: 2000)
                try await store.write { transaction in
                    let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(other.userID)
                    try UserRepository(transaction).setProfile(
                        displayName: nil, avatarURL: try key.seal(picture, in: .userAvatarURL, of: other.userID),
                        index: .of(picture), of: other.userID)
                }
            }
            var made: Set<String> = []
            for _ in 0..<10 { made.insert(try await bench.open("conversation", others, by: ann)) }
            var (found, cursor, pages) = ([String](), String?.none, 0)
            repeat {
                let page = try await bench.context.listMessageStreams(
                    MessageStreamFilter(kind: nil, cursor: cursor), for: ann)
                #expect(page.views.reduce(0) { $0 + $1.weight } <= Service.MessageStreamPage.largest)
                found += page.views.map(\.stream.id.description)
                (cursor, pages) = (page.cursor, pages + 1)
            } while cursor != nil && pages < 10
            #expect(pages == 2 && found.count == 10 && Set(found) == Set(made.map { $0.lowercased() }))
        }
    }
}
