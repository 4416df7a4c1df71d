import Domain
import Encoding
import Foundation
import Operations
import Testing

@testable import Console

@Suite("The page of waiting acts")
struct ActPageTests {
    private static func row(
        _ text: String, by administrator: AdministratorID, users: Int = 1, content: String = "{}",
        isUrgent: Bool = false
    ) -> ActList.Row {
        let act = WaitingAct(
            id: WaitingActID(UUID()), kind: .ban, subject: text, content: content, users: users, reason: text,
            requestedBy: administrator, createdAt: UserSamples.now, isUrgent: isUrgent)
        return (act: act, administrator: text)
    }

    @Test("has a link to confirm what another one asked for, and shows each text as it is", arguments: Texts.all)
    func list(text: String) {
        let own = AdministratorID(UUID())
        func page(_ text: String) -> Page {
            let acts = [
                Self.row(text, by: AdministratorID(UUID())), Self.row(text, by: own),
                Self.row(text, by: AdministratorID(UUID()), isUrgent: true),
            ]
            return ActList(acts: acts, administrator: own, now: UserSamples.now).page
        }
        let hostile = page(text)
        hostile.requireWellFormed()
        #expect(PageShape(page("lena").markup) == PageShape(hostile.markup))
        #expect(hostile.text.matches(of: /Confirm act [0-9a-f]/).count == 1)
        #expect(
            hostile.text.contains("waits for another administrator") && hostile.text.contains("took effect at once"))
        let empty = ActList(acts: [], administrator: own, now: UserSamples.now).page
        #expect(empty.text.contains("No act waits."))
    }

    @Test("shows what a ban is about, before it is confirmed and in the list")
    func ban() async throws {
        let content = """
            {"kind": "phone", "subjects": [{"version": 1, "index": "\(Digest256.of("number").base64URL)"}], \
            "scope": "messaging", "reason": "spam", "ends_at": 1800000000000, "with_devices": false, "replaces": true}
            """
        try await ConsoleWorld.run(as: .security) { world in
            let row = Self.row("lena", by: AdministratorID(UUID()), content: content)
            let list = ActList(acts: [row], administrator: AdministratorID(UUID()), now: UserSamples.now).page
            for page in [ActPages.confirmation(row, world.request()).page, list] {
                page.requireWellFormed()
                for words in ["A telephone number", "messaging: signing in", "2027-01-15T08:00:00", "are replaced"] {
                    #expect(page.text.contains(words), "\(words)")
                }
                #expect(!page.text.contains("devices are banned"))
            }
        }
    }

    @Test("leads to a confirmation with the number of users, typed in if it is large")
    func confirmation() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let row = Self.row("lena", by: AdministratorID(UUID()), users: 21)
            let page = ActPages.confirmation(row, world.request()).page
            page.requireWellFormed()
            #expect(page.text.contains("21 users will be affected at once.") && page.text.contains("Type in 21"))
            #expect(!page.text.contains("Scope:"))
            let unknown = UUID().uuidString.lowercased()
            for kind in [ConsoleRoute.Kind.page, .action] {
                let route = try #require(ActPages.routes.first { $0.kind == kind && $0.path.description == "/acts/{}" })
                await #expect(throws: Refusal(.notFound, "")) {
                    try await route.answer(world.request([unknown], ["users": "1"], operationID: "o1"))
                }
            }
        }
    }
}
