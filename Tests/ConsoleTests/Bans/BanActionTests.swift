import Domain
import Fixtures
import Foundation
import Operations
import Testing

@testable import Console

@Suite("A ban in the console")
struct BanActionTests {
    private static let values = ["scope": "all", "reason": "spam", "duration": "30d", "note": "three reports"]

    private static func form(_ kind: String, _ subject: String, _ others: [String: String] = [:]) -> [String: String] {
        values.merging(["kind": kind, "subject": subject]) { $1 }.merging(others) { $1 }
    }

    @Test("changes nothing until its numbers are confirmed, and is then in force")
    func add() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let session = try await world.fixture.opened("ann", on: try await world.fixture.connectNewDevice()).session
            let user = session.userID.description
            let new = try await world.page("/bans/new", [], ["kind": "user", "subject": user])
            new.requireWellFormed()
            #expect(new.text.contains("value=\"\(user)\"") && new.text.contains("value=\"user\" selected"))
            let preview = try await world.preview("/bans/new", [], Self.form("user", user))
            preview.requireWellFormed()
            #expect(preview.text.contains("1 user will be affected at once."))
            #expect(preview.text.contains("1 session will end, on every node.") && preview.text.contains("test/ann"))
            #expect(try await world.administration.listBans(isActive: false, limit: 1).isEmpty)
            let path = try await world.act("/bans", [], Self.form("user", user, ["users": "1"]))
            let ban = try #require(try await world.administration.listBans(isActive: true, limit: 1).first).ban
            #expect(path == "/bans/\(ban.id)" && ban.actor == "admin lena, security")
            #expect(ban.endsAt == world.fixture.clock.now.addingTimeInterval(30 * 86_400))
            #expect(try await world.administration.readUserDetail(user).sessions.isEmpty)
            #expect(try await world.page("/bans/{}", [ban.id.description]).text.contains("three reports"))
            for list in [[:], ["state": "all"], ["user": user]] {
                #expect(try await world.page("/bans", [], list).text.contains(ban.id.description), "\(list)")
            }
            let found = try await world.preview("/bans/find", [], ["kind": "user", "subject": "test/ann"])
            #expect(found.text.contains(ban.id.description))
            // A ban that is as strict replaces it only if the box is checked.
            await #expect(throws: Refusal(.conflict, "")) {
                try await world.preview("/bans/new", [], Self.form("user", user))
            }
            let replacing = try await world.preview("/bans/new", [], Self.form("user", user, ["replace": "yes"]))
            #expect(replacing.text.contains("It replaces"))
        }
    }

    @Test("of more than 20 users needs their number typed in, and shows its numbers again if they rose")
    func agreed() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let connection = try await world.fixture.connectNewDevice()
            var device: DeviceID?
            for number in 0..<21 {
                device = try await world.fixture.opened("user\(number)", on: connection).session.deviceID
            }
            let id = try #require(device).description
            let preview = try await world.preview("/bans/new", [], Self.form("device", id))
            preview.requireWellFormed()
            #expect(preview.text.contains("21 users will be affected at once."))
            #expect(preview.text.contains("Type in 21 to confirm."))
            for typed in ["", "20", "021 "] {
                let values = Self.form("device", id, ["users": "21", "users_typed": typed])
                let refusal = await #expect(throws: Refusal.self) { try await world.act("/bans", [], values) }
                #expect(refusal?.detail == Refusal.numberNotTyped(21).detail, "\(typed)")
            }
            let again = try await world.preview("/bans", [], Self.form("device", id, ["users": "1"]))
            #expect(again.text.contains("21 users will be affected at once."))
            #expect(try await world.administration.listBans(isActive: false, limit: 1).isEmpty)
            let path = try await world.act(
                "/bans", [], Self.form("device", id, ["users": "21", "users_typed": "21"]))
            #expect(path.hasPrefix("/bans/"))
            #expect(try await world.page("/devices/{}", [id]).text.contains("No session is open."))
        }
    }

    @Test("of a number or document is never in an address, and affects users who prove it later")
    func number() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let form = Self.form("phone", "+14155552671")
            let preview = try await world.preview("/bans/new", [], form)
            #expect(preview.text.contains("0 users will be affected at once."))
            #expect(preview.text.contains("also for users who prove it later."))
            let path = try await world.act("/bans", [], form.merging(["users": "0"]) { $1 })
            #expect(!path.contains("5552671"))
            let list = try await world.page("/bans")
            #expect(list.text.contains("number ") && !list.text.contains("5552671"))
            let found = try await world.preview("/bans/find", [], ["kind": "phone", "subject": "+14155552671"])
            #expect(found.text.contains("href=\"\(path)\"") && !found.text.contains("5552671"))
        }
    }

    @Test("is lifted with a reason, and the page says what remains in force")
    func lift() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            _ = try await world.fixture.opened("ann", on: try await world.fixture.connectNewDevice())
            let form = Self.form("user", "test/ann", ["users": "1"])
            let first = try await world.act("/bans", [], form.merging(["scope": "messaging"]) { $1 })
            let second = try await world.act("/bans", [], form)
            let id = String(second.dropFirst("/bans/".count))
            let page = try await world.page("/bans/{}/lift", [id])
            page.requireWellFormed()
            #expect(page.text.contains("Other bans in force: 1.") && page.text.contains("href=\"\(first)\""))
            await #expect(throws: Refusal.self) { try await world.act("/bans/{}/lift", [id]) }
            #expect(try await world.act("/bans/{}/lift", [id], ["note": "appeal\r\ngranted"]) == second)
            let lifted = try await world.page("/bans/{}", [id]).text
            #expect(lifted.contains("appeal\ngranted") && lifted.contains("lifted") && !lifted.contains("Lift ban"))
            await #expect(throws: Refusal(.conflict, "")) { try await world.page("/bans/{}/lift", [id]) }
        }
    }
}
