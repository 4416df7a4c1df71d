import Foundation
import Hummingbird
import SampleBackend
import Synchronization

/// One-time tickets, by which an app lets a browser act for its user. A browser has neither the device's certificate
/// nor a way to send a header with a WebSocket. Tickets are in memory only, so a restart ends the sessions of browsers.
final class Tickets: Sendable {
    /// What a ticket is for: the next tickets of a browser, or one WebSocket.
    enum Use: Sendable { case renewal, socket }

    /// A user in a browser, until a time.
    struct Grant: Sendable {
        let caller: Caller
        let until: Date
    }

    private struct Entry: Sendable {
        let grant: Grant
        let use: Use
        let expiresAt: Date
    }

    private static let all = 10_000, ofUser = 16
    private let entries = Mutex<[String: Entry]>([:])

    /// - Throws: `503` if there are too many tickets.
    func issue(_ grant: Grant, for use: Use, until end: Date) throws -> String {
        // 256 random bits: an attacker cannot guess one.
        let ticket = Data.random(count: 32).map { String(format: "%02x", $0) }.joined()
        let isIssued = entries.withLock { entries in
            let now = Date()
            if entries.count >= Self.all { entries = entries.filter { $0.value.expiresAt > now } }
            let own = entries.filter { $0.value.grant.caller.user == grant.caller.user }
            if own.count >= Self.ofUser, let oldest = own.min(by: { $0.value.expiresAt < $1.value.expiresAt }) {
                entries[oldest.key] = nil
            }
            guard entries.count < Self.all else { return false }
            entries[ticket] = Entry(grant: grant, use: use, expiresAt: min(end, grant.until))
            return true
        }
        guard isIssued else { throw HTTPError(.serviceUnavailable, message: "too many browsers: try again later") }
        return ticket
    }

    /// Takes a ticket out.
    ///
    /// - Returns: `nil` if it is unknown, used or expired, or for another use.
    func redeem(_ ticket: String, for use: Use) -> Grant? {
        let entry = entries.withLock { $0.removeValue(forKey: ticket) }
        guard let entry, entry.use == use, Date() < entry.expiresAt else { return nil }
        return entry.grant
    }

    /// Drops the tickets of ended sessions.
    func drop(_ end: SecurityEvents.SessionEnd) {
        entries.withLock { entries in entries = entries.filter { !end.applies(to: $0.value.grant.caller) } }
    }
}
