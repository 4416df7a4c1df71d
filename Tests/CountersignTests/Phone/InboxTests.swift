import Fixtures
import Foundation
import Testing

@testable import countersign

/// What `countersign inbox` reads: a file that another process writes at its end.
@Suite("The file of texts")
struct InboxTests {
    private static func line(_ number: Int, padding: Int = 0) -> String {
        let text = "\(number)" + String(repeating: "x", count: padding)
        return #"{"sent_at":"2026-11-22T12:00:00Z","to":"+1202555010\#(number % 10)","text":"\#(text)"}"# + "\n"
    }

    private static func number(_ entry: InboxEntry) -> Int? {
        guard case .text(let text) = entry.content else { return nil }
        return Int(text.prefix { $0 != "x" })
    }

    @Test("is read page by page from its end, each line once, however many blocks it has")
    func pages() throws {
        let place = try ScratchDirectory()
        // Lines of all lengths, so that blocks end in the middle of some; the last one is being written.
        let lines = (0..<3000).map { Self.line($0, padding: $0 * 7 % 2000) }
        #expect(lines.joined().utf8.count > 2 * Int(InboxFile.block))
        let path = try place.write(lines.joined() + #"{"to":"#, "texts.jsonl")
        let file = InboxFile(path: path)
        var found: [Int?] = []
        var cursor: UInt64?
        for _ in 0..<200 {
            let page = file.last(290, before: cursor) { _ in true }.entries
            guard let first = page.first else { break }
            found.insert(contentsOf: page.map(Self.number), at: 0)
            cursor = first.offset
        }
        #expect(found == Array(0..<3000))
    }

    @Test("is searched beyond the first block for the texts to one number")
    func search() throws {
        let place = try ScratchDirectory()
        let path = try place.write(Self.line(7) + (1...9).map { Self.line($0 * 10, padding: 300_000) }.joined(), "t")
        let found = InboxFile(path: path).last(5, before: nil) { $0.to == "+12025550107" }.entries
        #expect(found.map(Self.number) == [7] && found.first?.offset == 0)
        #expect(InboxFile(path: path + "x").last(5, before: nil) { _ in true }.entries.isEmpty)
    }

    @Test("is followed from the last whole line on, also if it is begun anew")
    func follow() throws {
        let place = try ScratchDirectory()
        let (first, second) = (Self.line(1), Self.line(2))
        let path = try place.write(first + second.prefix(9), "t")
        let page = InboxFile(path: path).last(5, before: nil) { _ in true }
        #expect(page.entries.map(Self.number) == [1])
        var lines = GrowingFile(path: path, offset: page.end)
        #expect(lines.next().isEmpty)
        _ = try place.write(first + second, "t")
        #expect(lines.next().compactMap(InboxEntry.init).map(Self.number) == [2])
        #expect(lines.next().isEmpty)
        _ = try place.write(Self.line(3), "t")
        #expect(lines.next().compactMap(InboxEntry.init).map(Self.number) == [3])
    }

    @Test("names for a withheld text what holds for its number")
    func withheld() {
        for number in ["+979123456789", "+80012345678", "+881612345678", "+870301234567"] {
            #expect(InboxEntry.mend("country", to: number).contains("no country"), "\(number)")
        }
        #expect(InboxEntry.mend("country", to: "+4915112345678").contains("`countries`"))
        #expect(InboxEntry.mend("still_open", to: "+4915112345678").contains("an earlier line has the cause"))
    }
}
