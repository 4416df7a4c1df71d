import CountersignClient
import Foundation
import Testing

@testable import CountersignSync

/// The names of members and senders on the device.
extension LocalStoreTests {
    /// A row of a stream of Ann and a member who shows a name; without a name, of Ann alone.
    private static func row(of stream: UUID, with name: String?) throws -> MessageStream {
        let others = name.map { [(user: bob, name: $0)] } ?? []
        let members = ([(user: ann, name: "Ann")] + others).map { member in
            """
            {"user_id":"\(member.user)","address":"test/\(member.name)","display_name":"\(member.name)",
            "initials":null,"picture_url":"https://pictures.example/1.png","assurance":"phone",
            "delivered_through":0,"read_through":0}
            """
        }
        let text = """
            {"id":"\(stream)","kind":"conversation","state":"open","created_by":null,
            "created_at":"2026-11-22T09:00:00Z","title":"T","description":null,"image_url":null,"last_sequence":1,
            "unread":0,"last_event":null,"members":[\(members.joined(separator: ","))],"profiles":[]}
            """
        return try JSONDecoder.service.decode(MessageStream.self, from: Data(text.utf8))
    }

    @Test("shows who wrote a message by the latest row, and forgets the name with the member's erasure")
    func names() async throws {
        let (local, second) = (try await local(), UUID())
        func names() async throws -> [String?] {
            try await local.messages(in: Self.stream).sections.flatMap(\.messages).map(\.author?.shownName)
        }
        for (anchor, stream) in [("a.1", Self.stream), ("a.2", second)] {
            let row = try Self.row(of: stream, with: "Bob")
            try await take([SyncOperation(.newMessage, stream, stream: row)], local, to: anchor)
        }
        let page = try Self.page([Self.message(1, "one")], last: 1)
        try await local.write { try $0.take(page, of: Self.stream, .newest) }
        #expect(try await names() == ["Bob"])
        let others = try await local.conversations().flatMap(\.participants)
        #expect(others.map(\.profile?.address) == ["test/Bob", "test/Bob"])
        #expect(others.first?.profile?.pictureURL == URL(string: "https://pictures.example/1.png"))
        #expect(try await local.queue().map(\.last.author?.displayName) == ["Bob"])
        let renamed = try Self.row(of: second, with: "Bert")
        try await take([SyncOperation(.members, second, stream: renamed)], local, to: "a.3")
        #expect(try await names() == ["Bert"])
        // The first stream still needs the name.
        try await take([SyncOperation(.deleted, second)], local, to: "a.4")
        #expect(try await names() == ["Bert"])
        let alone = try Self.row(of: Self.stream, with: nil)
        try await take([SyncOperation(.erased, Self.stream, stream: alone)], local, to: "a.5")
        #expect(try await count("profiles", local) == 1)
    }
}
