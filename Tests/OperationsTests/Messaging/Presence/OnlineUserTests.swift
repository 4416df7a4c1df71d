import Domain
import Foundation
import Testing

@testable import Operations

@Suite("Users online on a node")
struct OnlineUserTests {
    private let users = (0..<5).map { _ in UserID(UUID()) }
    private let start = ContinuousClock.now

    @Test("are written once, and as offline thirty seconds after the last device stopped waiting")
    func grace() {
        let (online, user) = (OnlineUsers(), users[0])
        for _ in 0..<2 { online.enter(user) }
        #expect(online.take(limit: 9, at: start) == .init(arrived: [user], left: []))
        online.leave(user, at: start)
        #expect(online.holds(user) && online.take(limit: 9, at: start + .seconds(60)).isEmpty)
        online.leave(user, at: start)
        #expect(!online.holds(user) && online.take(limit: 9, at: start + .milliseconds(29_999)).isEmpty)
        // A device came back.
        online.enter(user)
        #expect(online.take(limit: 9, at: start + .seconds(31)).isEmpty)
        online.leave(user, at: start + .seconds(31))
        #expect(online.take(limit: 9, at: start + .seconds(61)) == .init(arrived: [], left: [user]))
        online.enter(user)
        #expect(online.take(limit: 9, at: start + .seconds(62)) == .init(arrived: [user], left: []))
    }

    @Test("are not written for a wait that ended before")
    func brief() {
        let (online, user) = (OnlineUsers(), users[0])
        online.enter(user)
        online.leave(user, at: start)
        #expect(online.take(limit: 9, at: start + .seconds(60)).isEmpty)
    }

    @Test("are written so many at a time, and only as offline while presence is not shared")
    func limits() {
        let online = OnlineUsers()
        for user in users { online.enter(user) }
        #expect(online.take(limit: 9, sharing: .off, at: start).isEmpty)
        let first = online.take(limit: 3, at: start).arrived
        let second = online.take(limit: 3, at: start).arrived
        #expect(first.count == 3 && second.count == 2 && Set(first + second) == Set(users))
        for user in users { online.leave(user, at: start) }
        #expect(online.take(limit: 4, sharing: .off, at: start + .seconds(30)).left.count == 4)
        #expect(online.take(limit: 4, at: start + .seconds(30)).left.count == 1)
        #expect(online.take(limit: 4, at: start + .seconds(30)).isEmpty)
    }

    @Test("are written again after a failure, and after the store may have lost them")
    func failures() {
        let (online, stays, leaves, returns) = (OnlineUsers(), users[0], users[1], users[2])
        for user in [stays, leaves] { online.enter(user) }
        let lost = online.take(limit: 9, at: start)
        online.leave(leaves, at: start)
        online.putBack(lost, at: start)
        #expect(online.take(limit: 9, at: start + .seconds(30)) == .init(arrived: [stays], left: [leaves]))
        online.enter(returns)
        _ = online.take(limit: 9, at: start)
        online.leave(returns, at: start)
        let left = online.take(limit: 9, at: start + .seconds(30))
        #expect(left.left == [returns])
        // It came back while the write failed, which may have been carried out.
        online.enter(returns)
        online.putBack(left, at: start)
        #expect(online.take(limit: 9, at: start + .seconds(60)).arrived == [returns])
        online.doubtAll()
        #expect(Set(online.take(limit: 9, at: start).arrived) == [stays, returns])
        #expect(online.take(limit: 9, at: start).isEmpty)
    }

    @Test("are watched by name: a change affects the users that watch, as long as they do, up to a limit")
    func watches() {
        let watches = PresenceWatches(limit: 4)
        let (ann, bob, cat) = (users[0], users[1], users[2])
        #expect(watches.enter(ann, of: []) == nil)
        let first = watches.enter(ann, of: [bob, cat])
        let second = watches.enter(bob, of: [cat, cat])
        #expect(watches.count == 3 && watches.enter(cat, of: [ann, bob]) == nil)
        #expect(watches.affected(by: [cat]) == [ann, bob])
        // The changed user watches others, and may see them no longer.
        #expect(watches.affected(by: [bob]) == [ann, bob] && watches.affected(by: [users[4]]).isEmpty)
        watches.narrow(first, to: [bob])
        #expect(watches.affected(by: [cat]) == [bob] && watches.count == 2)
        for place in [first, second, nil] { watches.leave(place) }
        #expect(watches.affected(by: Set(users)).isEmpty && watches.count == 0)
    }
}
