import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@testable import Console

@Suite("The search of the console")
struct SearchTests {
    @Test("finds users by external id and id, and by sessions, and says if there is none")
    func support() async throws {
        try await ConsoleWorld.run(as: .support) { world in
            let session = try await world.fixture.opened("ann", on: try await world.fixture.connectNewDevice()).session
            let slug = world.fixture.registration.provider.slug.text
            let user = "href=\"/users/\(session.userID)\""
            func found(_ values: [String: String]) async throws -> String {
                let page = try await world.page("/search", [], values)
                page.requireWellFormed()
                return page.text
            }
            for values in [
                ["external_id": "ann"], ["external_id": "ann", "provider": slug], ["user": "\(slug)/ann"],
                ["user": String(session.userID.description.prefix(8))], ["session": session.id.description],
            ] {
                #expect(try await found(values).contains(user), "\(values)")
            }
            #expect(try await found(["external_id": "ben"]).contains("No user has the external id ben."))
            for values in [
                ["external_id": "ann", "provider": "nowhere"], ["user": "test/ben"], ["session": UUID().uuidString],
            ] {
                let text = try await found(values)
                #expect(text.contains("role=\"status\"") && !text.contains("href=\"/users/"), "\(values)")
            }
            await #expect(throws: Refusal(.malformedRequest, "")) { try await found(["session": "x"]) }
            // Nothing about devices, numbers and documents, which the role may not read.
            let start = try await found([:])
            for word in ["status", "serial", "device", "trait"] { #expect(!start.contains("\"\(word)"), "\(word)") }
            await #expect(throws: Refusal(.insufficientScope, "")) {
                try await found(["device": session.deviceID.description])
            }
        }
    }

    @Test("finds devices by id and serial number, and users by number, of which nothing is stored")
    func security() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let session = try await world.fixture.opened("ann", on: try await world.fixture.connectNewDevice()).session
            let device = try await world.administration.readDevice(session.deviceID)
            let serial = try #require(device.certificates.first).serial
            for values in [["device": session.deviceID.description], ["serial": serial]] {
                #expect(try await world.page("/search", [], values).text.contains("/devices/\(session.deviceID)"))
            }
            #expect(try await world.page("/search", [], ["serial": "00ff00ff00ff"]).text.contains("role=\"status\""))
            let page = try await world.preview(
                "/search", [], ["trait": "phone", "value": "+14155552671", "reason": "ticket:3"])
            page.requireWellFormed()
            #expect(page.text.contains("No user has proven this number or document.") && !page.text.contains("5552671"))
            let log = try await ReadAudit(store: world.fixture.store).search(
                ReadAudit.Filter(event: "personal_data_read"), count: 9)
            #expect(log.map(\.entry.reason) == ["ticket:3"])
            for values in [
                ["trait": "phone", "value": "+14155552671"], ["trait": "phone", "value": "x", "reason": "ticket:3"],
                ["trait": "name", "value": "ann", "reason": "ticket:3"],
            ] {
                let refusal = await #expect(throws: Refusal.self) { try await world.preview("/search", [], values) }
                #expect(refusal?.code == .malformedRequest, "\(values)")
            }
        }
    }

    @Test("does not say that there is no user if it was not finished")
    func unfinished() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let request = world.request([], ["trait": "phone", "value": "+14155552671", "reason": "ticket:3"])
            let refused = Administration(
                store: world.fixture.store, environment: world.fixture.admin.environment, actor: "admin lena",
                administrator: world.administrator
            ) { throw Refusal(.unavailable, "The keys cannot be read.") }
            let other = ConsoleRequest(
                segments: [], values: request.values, administrator: world.administrator, administration: refused,
                now: request.now, operationID: "o1", tokens: request.tokens, newOperationID: { "o2" },
                parts: request.parts)
            let route = try #require(SearchPages.routes.first { $0.kind == .action })
            await #expect(throws: Refusal(.unavailable, "")) { try await route.answer(other) }
            try await world.fixture.admin.removeAdministrator("lena")
            await #expect(throws: Refusal(.insufficientScope, "")) {
                try await world.page("/search", [], ["external_id": "ann"])
            }
        }
    }

    @Test("shows each text as it is", arguments: Texts.all)
    func texts(text: String) async throws {
        try await ConsoleWorld.run(as: .security) { world in
            func pages(_ text: String) async throws -> [PageShape] {
                let users = [try await UserSamples.summary(text, in: world)]
                let results: [SearchPage.Result] = [
                    .users(users), .notFound(sentence: text), .session(UserSamples.session(text)),
                    .device(DeviceID(UUID()), of: text),
                ]
                return results.map { result in
                    let page = SearchPage(result: result, role: .security, personal: nil).page
                    page.requireWellFormed()
                    return PageShape(page.markup)
                }
            }
            let (plain, hostile) = (try await pages("ann"), try await pages(text))
            #expect(plain == hostile)
        }
    }
}
