import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

extension MessageStreamRepository {
    /// Takes the next number of a stream as it is now.
    func takeNumber(_ id: MessageStreamID, at time: Date) throws -> Int64? {
        try find(id).flatMap { try takeNumber(of: $0, at: time) }
    }
}

@Suite("Pages of streams and users")
struct StreamPageTests {
    private func makeStream(_ tables: TestTables, _ members: [UserID]) async throws -> MessageStreamID {
        try await tables.write { [keys = tables.keys] transaction in
            let stream = MessageStream(
                id: MessageStreamID(UUID()), providerID: tables.provider, kind: .conversation,
                createdBy: tables.user, createdAt: TestTables.now)
            let (key, wrapped, version) = try StreamKeyRepository(transaction, keys: keys).generate(for: stream.id)
            _ = try MessageStreamRepository(transaction).insert(
                stream, wrapped: wrapped, version: version,
                opening: try key.seal("opening", in: .streamOpening),
                metadata: try key.seal("metadata", in: .streamMetadata))
            for member in members {
                try StreamMemberRepository(transaction).admit(
                    StreamMember(streamID: stream.id, userID: member, joinedAt: 0))
            }
            for (number, text) in zip(Int64(1)..., ["short", "long"]) {
                let (id, size) = (MessageID(UUID()), Int64(text == "long" ? 5000 : 256))
                _ = try MessageStreamRepository(transaction).takeNumber(stream.id, at: transaction.now)
                try StreamMessageRepository(transaction).insert(
                    StreamMessage(
                        streamID: stream.id, sequence: number, id: id, senderID: tables.user,
                        sentAt: transaction.now, inReplyTo: nil, thread: nil, size: size,
                        sealedBody: try key.seal(text, in: .messageBody, of: id)))
            }
            return stream.id
        }
    }

    @Test("hold what one user may see, of more streams than one text of a statement takes", arguments: StoreKind.shared)
    func page(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            var streams: [MessageStreamID] = []
            for _ in 0..<6 { streams.append(try await makeStream(tables, [tables.user, eve])) }
            let (all, left) = (streams, streams[0])
            try await tables.write { try StreamMemberRepository($0).leave(eve, left, at: 1) }
            let (pages, unknown) = try await tables.read { [keys = tables.keys] transaction in
                let repository = StreamPageRepository(transaction, keys: keys)
                let (shared, own) = try repository.metadata(of: all, for: eve)
                #expect(shared.count == 6 && own.isEmpty)
                let found = try repository.find(all, for: eve, longest: 4096)
                for entry in found.values {
                    let key = try #require(try repository.key(of: entry))
                    #expect(try entry.sealedOpening.map { try key.open($0, in: .streamOpening) } == "opening")
                }
                return (found, try repository.find([MessageStreamID(UUID())], for: eve, longest: 4096))
            }
            #expect(Set(pages.keys) == Set(streams) && unknown.isEmpty)
            for (id, entry) in pages {
                #expect(entry.members.count == 2)
                #expect(entry.last?.sequence == (id == left ? 1 : 2))
                // Of what is too long for a list it is known that it is there.
                #expect(entry.last?.sealedBody?.count == (id == left ? entry.last?.sealedBody?.count : 1))
            }
            #expect((pages[left]?.last?.sealedBody?.count ?? 0) > 1)
        }
    }

    @Test("A change is noted once for each of many users, in the order of their ids", arguments: StoreKind.shared)
    func notes(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            var members = [tables.user]
            for number in 0..<36 { members.append(try await tables.newUser("u\(number)")) }
            let (users, stream) = (members, try await makeStream(tables, [tables.user]))
            for count in 1...2 {
                try await tables.write {
                    try StreamUserRepository($0).note(.newMessage, of: stream, for: users, at: TestTables.now)
                }
                for user in users {
                    let (last, changes) = try await tables.read {
                        let records = StreamUserRepository($0)
                        return (try records.lastChange(of: user), try records.changes(of: user, after: 0, limit: 9))
                    }
                    #expect(last == Int64(count) && changes.map(\.sequence) == [Int64(count)])
                }
            }
        }
    }

    @Test("Users, permissions and bans are found for many at once as for one", arguments: StoreKind.shared)
    func people(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            var others: [UserID] = []
            for number in 0..<5 { others.append(try await tables.newUser("u\(number)")) }
            let some = others
            let (users, permitted, banned, profiles) = try await tables.read { [keys = tables.keys] transaction in
                (
                    try UserRepository(transaction).find(some + [UserID(UUID())]),
                    try AuthorizationRepository(transaction).permitted(with: tables.user, among: some),
                    try BanRepository(transaction).holdsInForce(on: some),
                    try PublicProfileRepository(transaction, keys: keys).find(some + [UserID(UUID())])
                )
            }
            #expect(Set(users.keys) == Set(some))
            #expect(permitted.isEmpty && banned.isEmpty && Set(profiles.keys) == Set(some))
            #expect(try await tables.read { try UserRepository($0).find([UserID]()) }.isEmpty)
        }
    }
}
