import Domain
import Encoding
import Foundation
import Testing

@testable import Console
@testable import Operations

@Suite("A page about bans")
struct BanPageTests {
    private static func summary(_ text: String) throws -> Administration.BanSummary {
        let ban = try UserSamples.ban(text)
        let digest = Digest256.of("sample")
        let subjects: [BanEntry.Subject] = [
            .user(UserID(UUID())), .phone(digest), .document(digest), .device(DeviceID(UUID())), .deviceKey(digest),
        ]
        return Administration.BanSummary(
            ban: ban,
            entries: subjects.map {
                BanEntry(ban: ban, subject: $0, origin: .direct, endsAt: nil, indexVersion: nil)
            })
    }

    private static func list(
        _ bans: [Administration.BanSummary], _ selection: BanList.Selection, after cursor: String? = nil,
        _ world: ConsoleWorld
    ) -> Page {
        let find = world.request().form(
            to: Links.bans.appending("find"), Array(BanForm.fields(kind: nil, subject: "").prefix(2)), submit: "Show")
        return BanList(selection: selection, bans: bans, cursor: cursor, now: UserSamples.now, find: find).page
    }

    @Test("shows each text as it is, in the list and on the page of a ban", arguments: Texts.all)
    func texts(text: String) async throws {
        try await ConsoleWorld.run(as: .security) { world in
            func pages(_ text: String) throws -> [PageShape] {
                let summary = try Self.summary(text)
                var lifted = summary.ban
                lifted.lifted = .init(at: UserSamples.now, actor: text)
                let pages = [
                    Self.list([summary], .active, world), Self.list([summary], .subject(text), world),
                    BanPage(summary: summary, note: text, liftNote: nil, now: UserSamples.now).page,
                    BanPage(
                        summary: .init(ban: lifted, entries: []), note: nil, liftNote: text, now: UserSamples.now
                    ).page,
                ]
                for page in pages { page.requireWellFormed() }
                return pages.map { PageShape($0.markup) }
            }
            let (plain, hostile) = (try pages("lena"), try pages(text))
            #expect(plain == hostile)
        }
    }

    @Test("says so if there is no ban")
    func empty() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            #expect(Self.list([], .active, world).text.contains("No ban is active."))
            #expect(Self.list([], .all, world).text.contains("There was never a ban.</p>"))
            #expect(Self.list([], .subject("x"), world).text.contains("There was never a ban on this subject."))
            var erased = try Self.summary("lena")
            erased = .init(ban: erased.ban, entries: [])
            #expect(Self.list([erased], .active, world).text.contains("<td>erased</td>"))
        }
    }

    @Test("leads to the next bans of the same state")
    func pages() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let bans = try (0...BanList.limit).map { _ in try Self.summary("lena") }
            let last = try #require(bans.dropLast().last).ban.id
            #expect(Self.list(bans, .active, world).text.contains("href=\"/bans?after=\(last)\""))
            let all = Self.list(bans, .all, after: "x", world).text
            #expect(all.contains("href=\"/bans?state=all&amp;after=\(last)\"") && all.contains("First page"))
            #expect(!Self.list(bans, .subject("x"), world).text.contains("Next page"))
        }
    }

    @Test("keeps every value of a new ban for the page that confirms it")
    func hidden() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let values = [
                "kind": "user", "subject": "test/ann", "scope": "messaging", "reason": "Spam", "note": "a\r\nb",
                "duration": "until", "until": "2999-01-31", "with_devices": "yes", "replace": "yes",
            ]
            let form = try BanForm(world.request([], values))
            var kept: [String: String] = [:]
            for case .hidden(let name, let value) in form.hidden { kept[name.description] = value }
            #expect(kept == values.merging(["reason": "spam", "note": "a\nb"]) { $1 })
            let order = try form.order(at: UserSamples.now)
            #expect(order.withDevices && order.replaces && order.scope == .messaging && order.note == "a\nb")
            #expect(order.endsAt == CalendarDate("2999-01-31")?.start)
            for (name, value) in [
                ("kind", "person"), ("subject", ""), ("scope", ""), ("reason", "two words"), ("duration", "1y"),
                ("until", ""), ("until", "2001-01-01"), ("kind", "device"), ("kind", "document"),
            ] {
                let other = values.merging([name: value]) { $1 }
                #expect(throws: Refusal(.malformedRequest, ""), "\(name) \(value)") {
                    try BanForm(world.request([], other)).order(at: UserSamples.now)
                }
            }
        }
    }
}
