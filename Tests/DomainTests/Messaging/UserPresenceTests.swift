import Foundation
import Testing

@testable import Domain

@Suite("Presence of users")
struct UserPresenceTests {
    @Test("is seen with a permission or a common conversation, unless a block, a ban or a hidden side forbids it")
    func rule() {
        for bits in 0..<32 {
            let rule = PresenceRule(
                isPermitted: bits & 1 > 0, shareConversation: bits & 2 > 0, isBlocked: bits & 4 > 0,
                isBanned: bits & 8 > 0, isHidden: bits & 16 > 0)
            #expect(rule.maySee == (1...3).contains(bits), "\(rule)")
        }
    }

    @Test("has no time of more than a minute's precision")
    func minutes() {
        let time = Date(timeIntervalSince1970: 1_800_000_059.999)
        let presence = UserPresence(of: UserID(UUID()), lastSeen: time)
        #expect(presence.lastSeen == Date(timeIntervalSince1970: 1_800_000_000) && !presence.isOnline)
    }
}
