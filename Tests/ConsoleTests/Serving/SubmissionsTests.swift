import Domain
import Fixtures
import Operations
import Testing

@testable import Console

@Suite("Submissions of forms")
struct SubmissionsTests {
    @Test("are remembered up to a number, and a page or a failure is not")
    func bounded() async throws {
        let id: AdministratorID = Environment().newIdentifier()
        let submissions = Submissions(most: 2)
        func send(_ operation: String, _ answer: ConsoleAnswer) async throws -> String {
            let key = Submissions.Key(administrator: id, target: "/bans", operationID: operation, form: [])
            switch try await submissions.answer(key, { answer }) {
            case .seeOther(let path): return path.text
            case .page(let page): return page.title
            case .download: return "download"
            }
        }
        func path(_ number: String) -> ConsoleAnswer { .seeOther(PagePath("/bans").appending(number)) }
        #expect(try await send("a", path("1")) == "/bans/1")
        #expect(try await send("a", path("2")) == "/bans/1")
        #expect(try await send("b", .page(Page("one", content: ""))) == "one")
        #expect(try await send("b", .page(Page("two", content: ""))) == "two")
        #expect(try await send("c", path("3")) == "/bans/3")
        #expect(try await send("d", path("4")) == "/bans/4")
        // The oldest made room.
        #expect(try await send("a", path("5")) == "/bans/5")
        #expect(try await send("d", path("6")) == "/bans/4")
    }
}
