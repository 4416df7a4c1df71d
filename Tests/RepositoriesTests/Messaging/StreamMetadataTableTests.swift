import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table stream_metadata, and lists of streams by it")
struct StreamMetadataTableTests {
    private static func make(
        _ tables: TestTables, kind: MessageStream.Kind = .conversation, members: [UserID] = [], at seconds: Double = 0
    ) async throws -> MessageStreamID {
        let id = MessageStreamID(UUID())
        try await tables.write { [keys = tables.keys, provider = tables.provider, user = tables.user] transaction in
            let (key, wrapped, version) = try StreamKeyRepository(transaction, keys: keys).generate(for: id)
            let stream = MessageStream(
                id: id, providerID: provider, kind: kind, createdBy: user,
                createdAt: TestTables.now.addingTimeInterval(seconds))
            _ = try MessageStreamRepository(transaction).insert(
                stream, wrapped: wrapped, version: version, opening: try key.seal("opening", in: .streamOpening),
                metadata: nil)
            for member in members {
                try StreamMemberRepository(transaction).admit(StreamMember(streamID: id, userID: member, joinedAt: 0))
            }
            if !members.isEmpty {
                try StreamUserRepository(transaction).note(.newMessage, of: id, for: members, at: transaction.now)
            }
        }
        return id
    }

    private static func digest(_ byte: UInt8) -> Digest256 { Digest256.of([byte]) }

    private typealias Metadata = StreamListRepository.Metadata

    private static func filter(
        _ kind: MessageStream.Kind? = nil, member: UserID? = nil, _ metadata: [Metadata] = []
    ) -> StreamListRepository.Filter {
        var filter = StreamListRepository.Filter()
        (filter.kind, filter.member, filter.metadata) = (kind, member, metadata)
        return filter
    }

    private static func list(
        _ tables: TestTables, of user: UserID, _ filter: StreamListRepository.Filter
    ) async throws -> [MessageStreamID] {
        try await tables.read {
            try StreamListRepository($0).own(of: user, .before(nil), filter, limit: 500).filter(\.fits).map(\.stream)
        }
    }

    @Test("Values are replaced, and deleted with the membership, the stream and its rows", arguments: StoreKind.shared)
    func rows(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let one = try await Self.make(tables, members: [tables.user, eve])
            let two = try await Self.make(tables, members: [tables.user, eve])
            try await tables.write { transaction in
                let metadata = StreamMetadataRepository(transaction)
                for stream in [one, two] {
                    try metadata.replace(["a": Self.digest(1), "b": Self.digest(2)], of: nil, in: stream)
                    try metadata.replace(["a": Self.digest(3)], of: eve, in: stream)
                }
                try metadata.replace(["a": Self.digest(4)], of: nil, in: one)
            }
            #expect(try await tables.count("stream_metadata") == 5)
            for (byte, expected) in [(UInt8(1), [two]), (4, [one])] {
                let sought = Metadata(isShared: true, name: "a", indexes: [Self.digest(byte)])
                #expect(try await Self.list(tables, of: eve, Self.filter(nil, [sought])) == expected)
            }
            try await tables.write { try StreamMemberRepository($0).erase(eve, in: two) }
            #expect(try await tables.count("stream_metadata") == 4)
            try await tables.write { _ = try MessageStreamRepository($0).delete(one, at: $0.now) }
            #expect(try await tables.count("stream_metadata") == 2)
            try await tables.write { transaction in
                _ = try MessageStreamRepository(transaction).delete(two, at: transaction.now)
                // As a change that did not see the deletion leaves it.
                try StreamMetadataRepository(transaction).replace(["a": Self.digest(3)], of: eve, in: two)
                for _ in 0..<3 { _ = try MessageStreamRepository(transaction).empty(MaintenanceBatch()) }
            }
            #expect(try await tables.count("stream_metadata") == 0)
        }
    }

    @Test("A filter is met by all of its conditions, for present members only", arguments: StoreKind.shared)
    func filters(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (ada, eve) = (tables.user, try await tables.newUser("eve"))
            let one = try await Self.make(tables, members: [ada, eve])
            let two = try await Self.make(tables, members: [ada])
            let three = try await Self.make(tables, kind: .direct, members: [ada, eve])
            try await tables.write { transaction in
                let metadata = StreamMetadataRepository(transaction)
                try metadata.replace(["topic": Self.digest(1), "colour": Self.digest(2)], of: nil, in: one)
                try metadata.replace(["topic": Self.digest(1)], of: nil, in: two)
                try metadata.replace(["pin": Self.digest(3)], of: eve, in: one)
                try metadata.replace(["pin": Self.digest(3)], of: ada, in: three)
            }
            func shared(_ name: String, _ bytes: UInt8...) -> Metadata {
                Metadata(isShared: true, name: name, indexes: bytes.map(Self.digest))
            }
            let pin = Metadata(isShared: false, name: "pin", indexes: [Self.digest(3)])
            for (filter, expected) in [
                (Self.filter(), [three, two, one]), (Self.filter(.direct), [three]),
                (Self.filter(member: eve), [three, one]), (Self.filter(.conversation, member: eve), [one]),
                (Self.filter(nil, [shared("topic", 1)]), [two, one]),
                (Self.filter(nil, [shared("topic", 9, 1)]), [two, one]),
                (Self.filter(nil, [shared("topic", 1), shared("colour", 2)]), [one]),
                (Self.filter(nil, [shared("colour", 1)]), []), (Self.filter(nil, [shared("topic", 9)]), []),
                (Self.filter(nil, [pin]), [three]), (Self.filter(member: eve, [shared("topic", 1)]), [one]),
            ] {
                #expect(try await Self.list(tables, of: ada, filter) == expected, "\(filter)")
            }
            #expect(try await Self.list(tables, of: eve, Self.filter(nil, [pin])) == [one])
            try await tables.write { try StreamMemberRepository($0).leave(eve, one, at: 0) }
            #expect(try await Self.list(tables, of: ada, Self.filter(member: eve)) == [three])
            #expect(try await Self.list(tables, of: eve, Self.filter(member: ada)) == [three])
            #expect(try await Self.list(tables, of: eve, Self.filter(nil, [shared("topic", 1)])).isEmpty)
            #expect(try await Self.list(tables, of: eve, Self.filter()) == [three, one])
        }
    }

    @Test("Own streams and forums are read from a position in both directions", arguments: StoreKind.shared)
    func directions(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            var (own, forums) = ([MessageStreamID](), [MessageStreamID]())
            for index in 0..<5 {
                own.append(try await Self.make(tables, members: [tables.user]))
                forums.append(try await Self.make(tables, kind: .forum, at: Double(index)))
            }
            try await tables.write { [forum = forums[3]] in
                try StreamMetadataRepository($0).replace(["topic": Self.digest(1)], of: nil, in: forum)
            }
            func walk(
                _ isForums: Bool, from start: StreamListRepository.Range, _ filter: StreamListRepository.Filter
            ) async throws -> [MessageStreamID] {
                var (range, seen) = (start, [MessageStreamID]())
                for _ in 0..<4 {
                    let found = try await tables.read { [range, user = tables.user, provider = tables.provider] in
                        let records = StreamListRepository($0)
                        return isForums
                            ? try records.forums(of: provider, range, filter, limit: 2)
                            : try records.own(of: user, range, filter, limit: 2)
                    }
                    seen += found.filter(\.fits).map(\.stream)
                    guard let last = found.last else { break }
                    if case .before = range { range = .before(last.mark) } else { range = .after(last.mark) }
                }
                return seen
            }
            let start = StreamListRepository.Range.after(.init(number: 0))
            for (isForums, made) in [(false, own), (true, forums)] {
                #expect(try await walk(isForums, from: .before(nil), Self.filter()) == made.reversed())
                #expect(try await walk(isForums, from: start, Self.filter()) == made)
            }
            let topic = Self.filter(nil, [Metadata(isShared: true, name: "topic", indexes: [Self.digest(1)])])
            #expect(try await walk(true, from: .before(nil), topic) == [forums[3]])
        }
    }
}
