import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import Console

@Suite("The start page")
struct StartPageTests {
    private static let now = FigureHistoryTests.start + 3600

    private static func view(
        _ figures: ConsoleFigures?, slots: [FigureHistory.Slot] = [], looks: [(name: String, at: Date)] = [],
        acts: ActList? = nil
    ) -> StartPage.StartView {
        StartPage.StartView(
            figures: figures.map { ($0, now) }, hour: slots, day: slots, policy: Policy(), refusedLooks: looks,
            acts: acts)
    }

    private static func text(_ view: StartPage.StartView) -> String {
        String(decoding: StartPage.page(view, at: now).content.bytes, as: UTF8.self)
    }

    @Test("loads itself again only if it was asked to, also before the first figures, and has a link that changes it")
    func refresh() {
        for figures in [nil, FigureHistoryTests.figures()] {
            let still = StartPage.page(Self.view(figures), at: Self.now)
            #expect(still.refresh == nil)
            #expect(String(decoding: still.content.bytes, as: UTF8.self).contains("href=\"/?every=30\""))
            let moving = StartPage.page(Self.view(figures), at: Self.now, every: 30)
            #expect(moving.refresh == 30)
            #expect(String(decoding: moving.content.bytes, as: UTF8.self).contains("<a href=\"/\"><bdi>Stop loading"))
        }
        #expect(Self.text(Self.view(nil)).contains("The node has just started."))
    }

    @Test("shows acts that wait for a second administrator first, also before the first figures")
    func acts() throws {
        let environment = Environment()
        let act = WaitingAct(
            id: environment.newIdentifier(), kind: .ban, subject: "user u1", content: "{}", users: 30, reason: "spam",
            requestedBy: environment.newIdentifier(), createdAt: Self.now, isUrgent: false)
        let list = ActList(acts: [(act, "ben")], administrator: environment.newIdentifier(), now: Self.now)
        for figures in [nil, FigureHistoryTests.figures()] {
            let text = Self.text(Self.view(figures, acts: list))
            #expect(text.contains("<bdi>ben</bdi>") && text.contains("href=\"/acts/\(act.id)\""))
        }
        let none = ActList(acts: [], administrator: environment.newIdentifier(), now: Self.now)
        #expect(!Self.text(Self.view(nil, acts: none)).contains("<table>"))
    }

    @Test("has each figure with its limit, and says in words which one is over it")
    func limits() {
        let calm = Self.text(
            Self.view(
                FigureHistoryTests.figures(
                    spent: 1230, outbox: ["text": (2, 600), "polled_event": (9, 90_000)],
                    ends: [("server", Self.now + 15 * 86_400)])))
        #expect(!calm.contains("over the limit"))
        #expect(calm.contains("1.23, 0 texts") && calm.contains("<bdi>100.00 a day (UTC)</bdi>"))
        #expect(calm.contains("2, the oldest due for 10 min") && calm.contains("9, the oldest due for 25 h"))
        let over = Self.text(
            Self.view(
                FigureHistoryTests.figures(
                    spent: 100_000, outbox: ["text": (2, 601)], ends: [("server", Self.now + 13 * 86_400)])))
        #expect(over.matches(of: /<strong>[^<]* \(over the limit\)<\/strong>/).count == 3)
    }

    @Test("draws columns without scripts or styles, and has the same numbers as a table")
    func charts() {
        var slots = (0..<60).map { FigureHistory.Slot(minute: 28_000_000 + $0) }
        (slots[3].signIns, slots[4].signIns, slots[59].review) = (200, 1, 5)
        let text = Self.text(Self.view(FigureHistoryTests.figures(), slots: slots))
        #expect(text.matches(of: /<svg\s/).count == 8 && text.matches(of: /<path\s/).count == 8)
        #expect(text.contains("Sign-ins, the last hour: 201 in all, at most 200 in a column"))
        #expect(text.contains("Cards in review, the last hour: at most 5") && text.contains("the last day: none"))
        // The highest column is as high as the drawing, and one of 200 is still seen.
        #expect(text.contains("d=\"M30 100v-100h8v100zM40 100v-2h8v2z\""))
        #expect(text.contains("<summary>Sign-ins, the last hour as a table</summary>"))
        #expect(text.contains("<td>201</td>") && !text.contains("style=") && !text.contains("<script"))
        #expect(text.utf8.count < 40_000)
    }

    @Test("names refusals by code and reason, most frequent first, and who looked at too many persons")
    func names() throws {
        var slot = FigureHistory.Slot(minute: 28_000_000)
        slot.refusals = ["rate_limited": 2, "not_found": 9, "<b>": 1]
        let text = Self.text(
            Self.view(FigureHistoryTests.figures(), slots: [slot], looks: [("lena", Self.now)]))
        let first = try #require(text.range(of: "<bdi>not_found</bdi>"))
        let second = try #require(text.range(of: "<bdi>rate_limited</bdi>"))
        #expect(first.lowerBound < second.lowerBound && text.contains("<bdi>&lt;b&gt;</bdi>"))
        #expect(text.contains("<bdi>lena</bdi>") && !text.contains("<b>"))
        #expect(!Self.text(Self.view(FigureHistoryTests.figures())).contains("looked at too many"))
    }
}
