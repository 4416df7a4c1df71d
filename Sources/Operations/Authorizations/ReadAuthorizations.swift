import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Service.AuthorizationPage {
    /// The number of entries of a full page.
    static let size = 50
    /// The approximate maximum of bytes in a page. URLs are the largest part of an entry.
    static let largest = size * 4096
}

extension Refusal {
}

package extension Service {
    /// One page of a list.
    struct AuthorizationPage: Sendable {
        /// Sorted by time, newest first.
        package let views: [AuthorizationView]
        /// The cursor of the next page; `nil` after the last one.
        package let cursor: String?
    }

    /// The box, state and page that a user selects.
    struct AuthorizationFilter: Sendable {
        let boxes: [MessagingPermission.Box]
        let state: MessagingPermission.State?
        let mark: (at: Date, id: AuthorizationID)?

        /// Parses a filter; `nil` means no restriction.
        ///
        /// - Throws: `Refusal` `malformed_request`.
        package init(box: String?, state: String?, cursor: String?) throws(Refusal) {
            boxes = try Self.word(box, "box").map { [$0] } ?? MessagingPermission.Box.allCases
            self.state = try Self.word(state, "state")
            mark = try cursor.map { cursor throws(Refusal) in
                guard let mark = Self.mark(cursor) else {
                    throw Refusal.unknownCursor
                }
                return mark
            }
        }

        private static func word<Word: RawRepresentable & CaseIterable>(
            _ text: String?, _ name: String
        ) throws(Refusal) -> Word? where Word.RawValue == String {
            guard let text else { return nil }
            guard let word = Word(rawValue: text) else {
                throw Refusal.unknownChoice(of: name, Word.self)
            }
            return word
        }

        /// A cursor is the position of a page's last row, which its reader knows already.
        static func cursor(behind last: MessagingPermission) -> String {
            Base64URL.encode(Array("\(last.createdAt.milliseconds) \(last.id)".utf8))
        }

        private static func mark(_ cursor: String) -> (at: Date, id: AuthorizationID)? {
            guard cursor.utf8.count <= 128, let bytes = Base64URL.decode(cursor) else { return nil }
            let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ")
            guard parts.count == 2, let time = Int64(parts[0]), (0..<1 << 52).contains(time),
                let id = AuthorizationID(parts[1])
            else { return nil }
            return (Date(milliseconds: time), id)
        }
    }

    /// A user's authorizations. A reinstalled app restores its data from them.
    ///
    /// - Throws: `Refusal` `not_verified`, `unavailable`.
    func listAuthorizations(_ filter: AuthorizationFilter, for session: Session) async throws
        -> AuthorizationPage
    {
        try await read { transaction in
            let parties = AuthorizationParties(policy, in: transaction)
            try parties.requireCaller(session.userID)
            let records = AuthorizationRepository(transaction)
            let found = try filter.boxes.flatMap { box in
                try records.list(
                    of: session.userID, box: box, state: filter.state, after: filter.mark,
                    limit: AuthorizationPage.size + 1
                ).map { (authorization: $0, box: box) }
            }.sorted {
                ($0.authorization.createdAt, $0.authorization.id.description)
                    > ($1.authorization.createdAt, $1.authorization.id.description)
            }
            let page = found.prefix(AuthorizationPage.size)
            return AuthorizationPage(
                views: try page.map {
                    try AuthorizationView($0.authorization, $0.box, parties: parties, of: self)
                },
                cursor: found.count > page.count
                    ? page.last.map { AuthorizationFilter.cursor(behind: $0.authorization) } : nil)
        }
    }

    /// Returns one authorization. If the other side's data is included, both must be verified now.
    ///
    /// - Throws: `Refusal` `not_found`, `not_verified` for either side, `unavailable`.
    func readAuthorization(_ text: String, to session: Session) async throws -> AuthorizationView {
        try await read { transaction in
            let parties = AuthorizationParties(policy, in: transaction)
            try parties.requireCaller(session.userID)
            guard let id = AuthorizationID(text[...]), let found = try AuthorizationRepository(transaction).find(id),
                let box = found.box(of: session.userID)
            else { throw Refusal.unknownAuthorization }
            switch (found.state(now: transaction.now), box) {
            case (.request, .incoming): try parties.requirePartner(found.requesterID)
            case (.approval, .incoming): try parties.requirePartner(found.requesterID)
            case (.approval, .outgoing): try parties.requirePartner(found.recipientID)
            default: break
            }
            return try AuthorizationView(found, box, parties: parties, of: self)
        }
    }
}
