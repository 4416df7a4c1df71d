import CountersignClient
import Foundation
import GRDB

extension Reconciler {
    /// A profile's columns, without its user.
    static let profileColumns = "p.user_id AS profile_id, p.address, p.display_name, p.initials, p.picture_url"

    /// The profile in a row with ``profileColumns``; `nil` if the user has none.
    static func profile(in row: Row) -> PublicProfile? {
        let (user, address, picture): (String?, String?, String?) = (
            row["profile_id"], row["address"], row["picture_url"]
        )
        guard let user = user.flatMap({ UUID(uuidString: $0) }), let address else { return nil }
        return PublicProfile(
            userID: user, address: address, displayName: row["display_name"], initials: row["initials"],
            pictureURL: picture.flatMap { URL(string: $0) })
    }

    func profile(of user: String) throws -> PublicProfile? {
        try Row.fetchOne(
            connection, sql: "SELECT \(Self.profileColumns) FROM profiles p WHERE p.user_id = ?", arguments: [user]
        ).flatMap(Self.profile(in:))
    }

    /// Stores what users show.
    ///
    /// - Parameter isComplete: `false` if the service omits names and pictures because the user was removed from the
    ///   stream. Known ones are kept.
    func keep(_ profiles: [PublicProfile], isComplete: Bool) throws {
        let conflict =
            isComplete
            ? """
            UPDATE SET address = excluded.address, display_name = excluded.display_name, initials = excluded.initials,
                picture_url = excluded.picture_url
            """ : "NOTHING"
        for profile in profiles {
            try connection.execute(
                sql: """
                    INSERT INTO profiles (user_id, address, display_name, initials, picture_url) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (user_id) DO \(conflict)
                    """,
                arguments: [
                    profile.userID.text, profile.address, profile.displayName, profile.initials,
                    profile.pictureURL?.absoluteString,
                ])
        }
    }

    /// Deletes the profiles of a stream's users that no other stream needs.
    func forgetProfiles(of stream: String) throws {
        try forgetProfiles(
            stream,
            unless: """
                EXISTS (SELECT 1 FROM participants p
                    WHERE p.user_id = profiles.user_id AND p.is_present = 1 AND p.stream_id <> ?1)
                OR EXISTS (SELECT 1 FROM messages m WHERE m.sender_id = profiles.user_id AND m.stream_id <> ?1)
                """)
    }

    /// Deletes the profiles of a stream's users that are members of no stream, because one of them was erased. The
    /// stream's messages are fetched again, with the profiles of their senders.
    func forgetErasedProfiles(in row: MessageStream) throws {
        try forgetProfiles(
            row.id.text,
            unless: "EXISTS (SELECT 1 FROM participants p WHERE p.user_id = profiles.user_id AND p.is_present = 1)")
        try keep(row.profiles, isComplete: row.state != .left)
    }

    private func forgetProfiles(_ stream: String, unless isNeeded: String) throws {
        try connection.execute(
            sql: """
                DELETE FROM profiles WHERE user_id IN (
                    SELECT user_id FROM participants WHERE stream_id = ?1
                    UNION SELECT sender_id FROM messages WHERE stream_id = ?1)
                AND NOT (\(isNeeded))
                """, arguments: [stream])
    }
}
