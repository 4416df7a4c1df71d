import Domain
import Fixtures
import Foundation
import Operations
import Testing

@testable import Console

@Suite("The page of a device")
struct DevicePageTests {
    private static func page(_ device: Administration.DeviceDetail) -> Page {
        DevicePage(device: device, role: .security, lifetimes: SessionPolicy(), now: UserSamples.now).page
    }

    @Test("shows certificates with their lineage, sessions, and each text as it is", arguments: Texts.all)
    func texts(text: String) {
        func page(_ text: String) -> Page { Self.page(UserSamples.device(text, sessions: [UserSamples.session(text)])) }
        let hostile = page(text)
        hostile.requireWellFormed()
        #expect(PageShape(page("a1").markup) == PageShape(hostile.markup))
        #expect(hostile.text.contains("<th scope=\"col\">Renews</th>"))
    }

    @Test("says so if it has neither certificate nor session")
    func empty() {
        var device = UserSamples.device("a1")
        device.certificates = []
        let reason = Ban.Reason(rawValue: "spam")
        device.bans =
            reason.map { reason in
                [
                    Ban(
                        id: BanID(UUID()), kind: .device, scope: .all, reason: reason, actor: "admin lena",
                        createdAt: UserSamples.now, endsAt: nil, lifted: nil)
                ]
            } ?? []
        let page = Self.page(device)
        #expect(page.text.contains("Banned") && page.text.contains("spam, permanent"))
        page.requireWellFormed()
        #expect(page.text.contains("The device has no certificate.") && page.text.contains("No session is open."))
    }

    @Test("leads to a revocation that says how many certificates, sessions and users it affects")
    func revocation() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let connection = try await world.fixture.connectNewDevice()
            for user in ["ann", "ben"] { _ = try await world.fixture.opened(user, on: connection) }
            let id = try await world.fixture.opened("ann", on: connection).session.deviceID.description
            let path = "/devices/{}/revoke"
            let page = try await world.page(path, [id])
            page.requireWellFormed()
            #expect(page.text.contains("1 certificate will be revoked"))
            #expect(page.text.contains("3 sessions of 2 users will end, on every node."))
            let form = ["reason": "keyCompromise", "users": "2"]
            for refused in [["users": "2"], ["reason": "stolen", "users": "2"], ["reason": "keyCompromise"]] {
                await #expect(throws: Refusal.self, "\(refused)") { try await world.act(path, [id], refused) }
            }
            let fewer = ["reason": "keyCompromise", "users": "1"]
            await #expect(throws: Refusal.moreUsers(2)) { try await world.act(path, [id], fewer) }
            #expect(try await world.act(path, [id], form) == "/devices/\(id)")
            let after = try await world.page("/devices/{}", [id])
            #expect(after.text.contains("keyCompromise") && after.text.contains("No session is open."))
            await #expect(throws: Refusal.deviceAlreadyRevoked) { try await world.act(path, [id], form) }
        }
    }
}
