import Domain
import Foundation
import Operations
import Testing

@testable import Console

@Suite("The page of a user")
struct UserPageTests {
    @Test("says in words why the user has the level, and what refuses the user")
    func reasons() async throws {
        try await ConsoleWorld.run(as: .support) { world in
            let summary = try await UserSamples.summary("ann", in: world)
            let detail = UserSamples.detail(
                summary, ban: try UserSamples.ban("lena"), cards: [.inReview: 1, .rejected: 2, .verified: 0])
            let text = UserSamples.page(detail, [UserSamples.event(.signIn, "user_banned")]).text
            for sentence in [
                Assurance.barcode.explanation, "Another user of the provider has verified the number since.",
                "1 card in review: the level rises if a reviewer approves.", "2 cards rejected.",
                "The ban refuses every sign-in of the user.", "user_banned user_banned.",
            ] { #expect(text.contains("\(sentence)"), "\(sentence)") }
            #expect(!text.contains("verified.</li>"))
            let messaging = UserSamples.detail(summary, ban: try UserSamples.ban("lena", scope: .messaging))
            #expect(UserSamples.page(messaging).text.contains("Signing in is allowed."))
            #expect(Set(Assurance.allCases.map(\.explanation)).count == Assurance.allCases.count)
        }
    }

    @Test("says so if there is nothing to show")
    func empty() async throws {
        try await ConsoleWorld.run(as: .support) { world in
            let detail = UserSamples.detail(try await UserSamples.summary("ann", in: world))
            let page = UserSamples.page(detail)
            page.requireWellFormed()
            for sentence in [
                "No session is open.", "Nothing is recorded.", "0 open sessions", "<dd>none</dd>", "never",
            ] {
                #expect(page.text.contains(sentence), "\(sentence)")
            }
            #expect(!page.text.contains("Next page") && !page.text.contains("Erased"))
        }
    }

    @Test("shows each text as it is, in every column", arguments: Texts.all)
    func texts(text: String) async throws {
        try await ConsoleWorld.run(as: .security) { world in
            func page(_ text: String) async throws -> Page {
                let summary = try await UserSamples.summary(text, in: world)
                let detail = UserSamples.detail(
                    summary, ban: try UserSamples.ban(text), sessions: [UserSamples.session(text)],
                    cards: [.verified: 1])
                return UserSamples.page(detail, UserEvent.Kind.allCases.map { UserSamples.event($0, text) })
            }
            let (plain, hostile) = (try await page("ann"), try await page(text))
            hostile.requireWellFormed()
            #expect(PageShape(plain.markup) == PageShape(hostile.markup))
        }
    }

    @Test("shows the newest 50 events and leads to the next ones")
    func pages() async throws {
        try await ConsoleWorld.run(as: .support) { world in
            let summary = try await UserSamples.summary("ann", in: world)
            let events = (1...51).map { UserSamples.event(.audit, "event \($0)", number: $0) }
            let sessions = (1...51).map { _ in UserSamples.session("ann") }
            let first = UserSamples.page(UserSamples.detail(summary, sessions: sessions), events)
            first.requireWellFormed()
            #expect(first.text.contains("<bdi>event 50</bdi>") && !first.text.contains("<bdi>event 51</bdi>"))
            #expect(
                first.text.contains("href=\"/users/\(summary.user.id)?after=50\"") && !first.text.contains("First page")
            )
            #expect(first.text.contains("51 open sessions") && first.text.contains("1 older sessions are not shown."))
            #expect(first.text.matches(of: /End session [0-9a-f]/).count == 50)
            let last = UserSamples.page(UserSamples.detail(summary), Array(events.suffix(1)), after: "50")
            #expect(last.text.contains("First page") && !last.text.contains("Next page"))
            #expect(last.text.contains("3 accepted and 4 refused sign-ins"))
            #expect(last.text.contains("1 request, 2 approval"))
        }
    }

    @Test("has the actions and links of the role only")
    func roles() async throws {
        try await ConsoleWorld.run(as: .support) { world in
            let summary = try await UserSamples.summary("ann", in: world)
            let detail = UserSamples.detail(
                summary, ban: try UserSamples.ban("lena"), sessions: [UserSamples.session("ann")])
            func text(_ role: AdminRole) -> String {
                UserSamples.page(detail, [UserSamples.event(.session, "opened")], as: role).text
            }
            let (support, security) = (text(.support), text(.security))
            let path = "href=\"/users/\(summary.user.id)/"
            for action in ["end-sessions", "challenge"] {
                #expect(support.contains("\(path)\(action)\"") && security.contains("\(path)\(action)\""))
            }
            for link in ["\(path)export\"", "\(path)erase\"", "href=\"/bans", "href=\"/devices/"] {
                #expect(!support.contains(link) && security.contains(link), "\(link)")
            }
        }
    }
}
