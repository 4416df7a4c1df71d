import Domain
import Testing

@testable import Console

@Suite("A form of the console")
struct ActionFieldTests {
    @Test("has a reason that is a code or a ticket's number")
    func reason() async throws {
        try await ConsoleWorld.run(as: .support) { world in
            let reason = try world.request([], ["reason": "ticket:4711"]).reason()
            #expect(reason == "ticket:4711")
            for text in ["", "Ann's wish", "+14155552671", String(repeating: "x", count: 65), "a\u{0}"] {
                let refusal = #expect(throws: Refusal.self) { try world.request([], ["reason": text]).reason() }
                #expect(refusal?.detail == Refusal.reasonUnreadable.detail)
            }
            #expect(throws: Refusal.reasonUnreadable) { try world.request().reason() }
        }
    }

    @Test("needs the number typed in for more than 20 users, and accepts no other number")
    func agreedUsers() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            func agreed(_ values: [String: String]) throws -> Int { try world.request([], values).agreedUsers() }
            let few = try [agreed(["users": "0"]), agreed(["users": "20"])]
            let many = try agreed(["users": "21", "users_typed": "21"])
            #expect(few == [0, 20] && many == 21)
            for values in [
                ["users": "21"], ["users": "21", "users_typed": "20"], ["users": "21", "users_typed": ""],
                ["users": "-1"], ["users": "x"], ["users": "99999999999999999999"], [:],
            ] {
                #expect(throws: Refusal.self, "\(values)") { try agreed(values) }
            }
            #expect(AgreedUsers.fields(20).count == 1 && AgreedUsers.fields(21).count == 2)
        }
    }

    @Test("does what cannot be undone only if its box is checked, and names an empty field")
    func sure() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            try world.request([], ["sure": "yes"]).requireSure()
            for values in [[:], ["sure": ""], ["sure": "no"]] {
                #expect(throws: Refusal.self) { try world.request([], values).requireSure() }
            }
            let refusal = #expect(throws: Refusal.self) { try world.request().required("note", label: "Finding") }
            #expect(refusal?.detail.contains("Finding") == true)
            #expect(world.request([], ["note": "a\r\nb"]).lines("note") == "a\nb")
            #expect(world.request([], ["note": ""]).lines("note") == nil)
        }
    }

    @Test("is on a page that says what will happen, each sentence in a line of its own")
    func confirmation() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let form = world.request().form(
                to: PagePath("/bans"), [.reason, .sure] + AgreedUsers.fields(21), submit: "Ban", isDangerous: true)
            let page = Confirmation(
                title: "Ban", above: [], effects: ["\(Markup.count(1, "user")).", "\(Markup.count(2, "device"))."],
                form: form
            ).page
            page.requireWellFormed()
            #expect(page.text.contains("<li>1 user.</li>\n<li>2 devices.</li>"))
            #expect(page.text.contains("Type in 21 to confirm.") && page.text.contains("class=\"dangerous\""))
        }
    }
}
