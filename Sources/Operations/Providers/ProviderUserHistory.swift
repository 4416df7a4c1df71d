import Database
import Domain
import Encoding
import Foundation
import Repositories

extension Service.ProviderUserHistory.Event {
    var place: HistoryPlace {
        switch self {
        case .signIn(let attempt): HistoryPlace(at: attempt.at, id: attempt.id.description)
        case .session(let past, _): HistoryPlace(at: past.session.createdAt, id: past.session.id.description)
        }
    }
}

package extension Service {
    /// A page of the history of a user that its provider may read: sign-ins, sessions and devices. Cards, other providers'
    /// data and the audit log are not part of it. A refused sign-in and an ended session say that a ban was the cause, and
    /// not the ban's reason.
    struct ProviderUserHistory: Sendable {
        /// An attempt to sign in or a session, sorted by its time, newest first.
        package enum Event: Sendable {
            case signIn(SignInAttempt)
            case session(PastSession, Session.EffectiveState)
        }

        package let events: [Event]
        /// The devices that the user signed in on, the last used one first. Only the first page has them.
        package let devices: [UserTraceRepository.Device]
        /// The cursor of the next page; `nil` after the last one.
        package let cursor: String?

        /// The number of events of a full page.
        static let size = 50
        /// The number of devices. With the events they are less than the bytes of a large response.
        static let mostDevices = 50
    }

    /// The sign-ins, sessions and devices of a provider's user, as long as each is stored. What is from before an
    /// erasure is left out.
    ///
    /// - Parameter cursor: the cursor of the previous page; `nil` for the first page.
    /// - Throws: `Refusal` `not_found` for a user; `malformed_request` for a cursor.
    func readUserHistory(
        _ externalID: String, of provider: ProviderID, after cursor: String?
    ) async throws -> ProviderUserHistory {
        let start: HistoryPlace
        if let cursor {
            guard let place = Self.place(cursor) else { throw Refusal.unknownCursor }
            start = place
        } else {
            start = .start
        }
        let user = try await user(externalID, of: provider).id
        let (policy, size) = (policy[\.sessions], ProviderUserHistory.size)
        return try await read { transaction in
            let traces = UserTraceRepository(transaction, of: user)
            let erasedAt = try traces.erasedAt()
            let attempts = try SignInRecordRepository(transaction).list(of: user, after: start, limit: size + 1)
            let sessions = try SessionRepository(transaction).list(
                of: user, after: start, since: erasedAt, limit: size + 1)
            var events = attempts.map { ProviderUserHistory.Event.signIn($0) }
            events += sessions.map {
                ProviderUserHistory.Event.session(
                    $0, $0.session.effectiveState(at: transaction.now, policy: policy))
            }
            let sorted = events.sorted { $0.place.precedes($1.place) }
            let page = sorted.prefix(size)
            let devices = cursor == nil ? try traces.devices(since: erasedAt) : []
            return ProviderUserHistory(
                events: Array(page), devices: Array(devices.prefix(ProviderUserHistory.mostDevices)),
                cursor: sorted.count > page.count ? page.last.map { Self.cursor($0.place) } : nil)
        }
    }

    private static func cursor(_ place: HistoryPlace) -> String { Base64URL.encode(Array(place.cursor.utf8)) }

    private static func place(_ cursor: String) -> HistoryPlace? {
        guard cursor.utf8.count <= 128, let bytes = Base64URL.decode(cursor) else { return nil }
        return HistoryPlace(cursor: String(decoding: bytes, as: UTF8.self))
    }
}
