import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Testing

@testable import Console

@Suite("The served console")
struct ServedConsoleTests {
    /// The path of a route with a value for each placeholder.
    private static func path(_ route: ConsoleRoute) -> String {
        route.path.description.replacing("{}", with: "0")
    }

    @Test("permits each role the routes of its rights only, on every route", arguments: AdminRole.allCases)
    func roles(role: AdminRole) async throws {
        try await ConsoleWorld.run(as: role) { world in
            let console = ServedConsole(world)
            #expect(!ConsoleRoutes.all.isEmpty)
            for route in ConsoleRoutes.all {
                let isPage = route.kind == .page
                let answer = await console.send(isPage ? .get : .post, Self.path(route))
                #expect(answer.route == route.path.description)
                // For the log line, also of a refusal.
                #expect(answer.administrator != nil, "\(route.path)")
                if role.includes(route.right) {
                    // An action without its form is refused for that.
                    if isPage { #expect(answer.status != 403, "\(route.path)") }
                    if !isPage { #expect(answer.refusal?.detail == Refusal.formIncomplete.detail, "\(route.path)") }
                } else {
                    #expect(answer.status == 403, "\(route.path)")
                    #expect(answer.refusal?.detail.contains("has the role \(role)") == true, "\(route.path)")
                    #expect(answer.text.contains("Ask an administrator with the role"), "\(route.path)")
                }
            }
        }
    }

    @Test("has every header field of a page on every answer, and names only pages that the role permits")
    func answers() async throws {
        try await ConsoleWorld.run(as: .support) { world in
            let console = ServedConsole(world)
            let answers = [
                await console.send(.get, "/"), await console.send(.get, "/nothing"), await console.send(.put, "/"),
                await console.send(.get, "/", thumbprint: Digest256.of("other")),
                await console.send(.get, "/console.css", []),
            ]
            #expect(answers.map(\.status) == [200, 404, 405, 403, 200])
            #expect(answers.map { $0.administrator != nil } == [true, true, true, false, false])
            for answer in answers {
                for field in PageHeaders.fields { #expect(answer.fields[field.name] == field.value) }
                // With another policy browsers hide the origin of the console's own forms.
                #expect(
                    answer.fields.contains { $0.value == "same-origin" && $0.name.canonicalName == "referrer-policy" })
            }
            for answer in answers.dropLast() {
                #expect(answer.text.hasPrefix("<!doctype html>") && answer.text.contains("<footer><p>Request r1</p>"))
            }
            for answer in answers.prefix(3) { #expect(answer.text.contains("<bdi>lena</bdi>, support.")) }
            // Who has no valid certificate gets no name and no pages, and a new connection.
            #expect(!answers[3].text.contains("lena") && !answers[3].text.contains("<nav"))
            #expect(answers[3].fields[.connection] == "close" && answers[2].fields[.allow] != nil)
            #expect(ConsoleRoutes.navigation(of: .support).map(\.path).contains(PagePath("/")))
        }
    }

    @Test("answers only requests from its own pages, or from an address that was typed, under its own name")
    func origins() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let console = ServedConsole(world)
            for (fields, status) in [
                ([("Sec-Fetch-Site", "none")], 200), ([("Sec-Fetch-Site", "same-origin")], 200),
                ([("Sec-Fetch-Site", "cross-site")], 403), ([("Sec-Fetch-Site", "same-site")], 403), ([], 403),
            ] as [([(String, String)], Int)] {
                #expect(await console.send(.get, "/", fields).status == status, "\(fields)")
            }
            for host in [nil, "", "other.example:8443", "console.example.other", "[::1]:8443"] as [String?] {
                let answer = await console.send(.get, "/", host: host)
                #expect(answer.refusal?.detail == Refusal.pageOfOtherHost.detail, "\(host ?? "none")")
            }
        }
    }

    /// An action that counts how often it ran.
    private struct Action: Sendable {
        let counter = Counter()
        let route: ConsoleRoute

        init(_ body: @escaping @Sendable () async throws -> Void = {}) {
            let answer: @Sendable (ConsoleRequest) async throws -> ConsoleAnswer = { [counter] _ in
                counter.add()
                try await body()
                return .seeOther(PagePath("/bans"))
            }
            route = .action("/bans/{}", .manage, cost: .write, subject: { $0.segments.joined() }, answer)
        }
    }

    @Test("runs an action only for a form of its own, for the same path, subject, certificate and hour")
    func forgery() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let action = Action()
            let console = ServedConsole(world, [action.route])
            func status(_ body: String, _ fields: [(String, String)]? = nil) async -> Int {
                await console.send(.post, "/bans/b1", fields, body: body).status
            }
            let form = console.form("/bans/b1", subject: "b1", [("reason", "x")])
            for place in ServedConsole.acting.indices {
                var fields = ServedConsole.acting
                fields.remove(at: place)
                #expect(await status(form, fields) == 403, "without \(ServedConsole.acting[place].0)")
            }
            var foreign = ServedConsole.acting
            foreign[0] = ("Sec-Fetch-Site", "cross-site")
            #expect(await status(form, foreign) == 403)
            foreign = ServedConsole.acting
            foreign[1] = ("Origin", "https://evil.example")
            #expect(await status(form, foreign) == 403)
            for (path, subject) in [("/bans/b2", "b1"), ("/bans/b1", "b2"), ("/bans", "b1"), ("/bans/b1?x=1", "b1")] {
                #expect(await status(console.form(path, subject: subject, [])) == 403, "\(path) \(subject)")
            }
            let others = FormToken(key: ServedConsole.keys.current, thumbprint: Digest256.of("other"))
                .issue(for: "/bans/b1", subject: "b1", at: world.fixture.clock.now)
            #expect(await status("form_token=\(others)&operation_id=\(UUID().uuidString)") == 403)
            for body in ["", "form_token=x", "form_token=x&operation_id=1", "a=1&a=2", "a=%", "a=%00", "a=%FF"] {
                #expect(await status(body) == 400, "\(body)")
            }
            #expect(await console.send(.get, "/bans/b1").status == 405)
            world.fixture.clock.advance(3600)
            #expect(await status(form) == 403)
            #expect(action.counter.count == 0)
            #expect(await status(console.form("/bans/b1", subject: "b1", [])) == 303 && action.counter.count == 1)
        }
    }

    @Test("runs an action once for a form that is sent twice, and again if it failed")
    func twice() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let failures = Counter()
            let action = Action {
                guard failures.count > 0 else {
                    failures.add()
                    throw Refusal.formIncomplete
                }
            }
            let console = ServedConsole(world, [action.route])
            let form = console.form("/bans/b1", subject: "b1", [])
            #expect(await console.send(.post, "/bans/b1", body: form).status == 400)
            let statuses = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    group.addTask { await console.send(.post, "/bans/b1", body: form).status }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [Int](repeating: 303, count: 20) && action.counter.count == 2)
            let answer = await console.send(.post, "/bans/b1", body: form)
            #expect(answer.fields[.location] == "/bans" && answer.text.isEmpty && action.counter.count == 2)
            // Other values under the same id are another action, and so is another submission.
            let id = UUID().uuidString
            for (reason, count) in [("spam", 3), ("fraud", 4), ("spam", 4)] {
                let form = console.form("/bans/b1", subject: "b1", operationID: id, [("reason", reason)])
                #expect(await console.send(.post, "/bans/b1", body: form).status == 303)
                #expect(action.counter.count == count)
            }
            #expect(
                await console.send(.post, "/bans/b1", body: console.form("/bans/b1", subject: "b1", [])).status == 303)
            #expect(action.counter.count == 5)
        }
    }

    @Test("shows an administrator 60 persons an hour, and names to the role security who wanted more")
    func looks() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let page = ConsoleRoute.page("/users/{}", .support, cost: .read, isPersonal: true) { request in
                .page(Page(request.segments.joined(), content: ""))
            }
            let console = ServedConsole(world, [page] + StartPage.routes)
            for number in 0..<60 { #expect(await console.send(.get, "/users/\(number)").status == 200) }
            let refused = await console.send(.get, "/users/60")
            #expect(refused.status == 429 && refused.fields[.retryAfter] != nil)
            #expect(await console.send(.get, "/").status == 200)
            #expect(world.fixture.context.refusedLooks().map(\.name) == ["lena"])
            world.fixture.clock.advance(3600)
            #expect(await console.send(.get, "/users/60").status == 200)
        }
    }

    @Test("says of a page that the store does not answer in time that nothing was decided")
    func patience() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let page = ConsoleRoute.page("/slow", .resolve, cost: .read) { _ in
                try await Task.sleep(for: .seconds(600))
                return .page(Page("Slow", content: ""))
            }
            let failing = ConsoleRoute.page("/failing", .resolve, cost: .read) { _ in throw CancellationError() }
            let slow = await ServedConsole(world, [page], patience: Patience(limit: .milliseconds(20)))
                .send(.get, "/slow")
            #expect(slow.status == 503 && slow.text.contains("Nothing was decided."))
            let failed = await ServedConsole(world, [failing]).send(.get, "/failing")
            #expect(failed.status == 500 && failed.text.contains("The log has the cause") && failed.refusal == nil)
        }
    }
}
