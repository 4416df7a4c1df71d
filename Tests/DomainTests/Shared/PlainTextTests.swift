import Domain
import Fixtures
import Foundation
import Testing

@Suite("Text that people read")
struct PlainTextTests {
    @Test(
        "Controls, C1, line separators, direction and format characters and noncharacters are refused everywhere",
        arguments: [
            0x00, 0x07, 0x0B, 0x0D, 0x1B, 0x7F, 0x80, 0x85, 0x9B, 0xAD, 0x600, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F,
            0x2028, 0x2029, 0x202A, 0x202E, 0x2060, 0x2066, 0x2069, 0xFEFF, 0xFFF9, 0xFFFE, 0xE0001, 0xE0041, 0x1FFFF,
        ] as [UInt32])
    func hidden(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        let isMark = [0x61C, 0x200E, 0x200F].contains(value)
        for use in [PlainText.Use.identifier, .prose, .note] where use != .note || !isMark {
            #expect(!PlainText.isPlain("a\(scalar)b", for: use), "U+\(String(value, radix: 16))")
        }
    }

    @Test("Notes have CRLF, and the marks of direction beside punctuation of a right-to-left text")
    func notes() {
        #expect(PlainText.isPlain("one\r\ntwo", for: .note))
        #expect(PlainText.isPlain("\u{05D0}!\u{200F} a \u{200E}(b)", for: .note))
        for text in ["one\rtwo", "one\r", "one\r\r\n"] { #expect(!PlainText.isPlain(text, for: .note), "\(text)") }
        #expect(!PlainText.isPlain("one\r\ntwo", for: .prose))
    }

    @Test("Line feeds and tabs stay in notes alone")
    func lines() {
        #expect(PlainText.isPlain("one\n\ttwo", for: .note))
        #expect(!PlainText.isPlain("one\ntwo", for: .prose))
        #expect(!PlainText.isPlain("one\ttwo", for: .identifier))
    }

    @Test("Names of all scripts are read, with the joiners that their writing needs; identifiers have none")
    func names() {
        let joined = ["\u{0639}\u{0644}\u{06CC}\u{200C}\u{0631}\u{0636}\u{0627}", "\u{0915}\u{094D}\u{200D}\u{0937}"]
        for name in joined + ["\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", "\u{2764}\u{FE0F}\u{200D}\u{1F525}"] {
            #expect(PlainText.isPlain(name, for: .prose), "\(name)")
            #expect(!PlainText.isPlain(name, for: .identifier))
        }
        for name in ["Zoë D’Arcy-Ó", "山田太郎", "Анна", "مريم", "שרה", "é\u{301}", "😀", ""] {
            #expect(PlainText.isPlain(name, for: .identifier), "\(name)")
        }
        for trick in ["pay\u{200D}pal", "a\u{200C}b", "\u{200D}", "1\u{200D}2"] {
            #expect(!PlainText.isPlain(trick, for: .prose))
        }
    }

    @Test("Letters and marks that show nothing are refused in names and notes, unless writing needs them")
    func invisibleLetters() {
        let fillers = ["\u{3164}", "\u{FFA0}", "\u{115F}", "\u{1160}", "\u{34F}", "\u{17B4}", "\u{2800}", "\u{FE0F}"]
        for filler in fillers + ["\u{180B}", "\u{E0100}"] {
            for name in ["Acme\(filler)", "\(filler)Acme", "Ac\(filler)me"] {
                #expect(!PlainText.isPlain(name, for: .prose) && !PlainText.isPlain(name, for: .note), "\(name)")
                // An identifier of a provider is taken as it is, and shown apart.
                #expect(PlainText.isPlain(name, for: .identifier))
                #expect(PlainText.shown(name).contains("\\u{"))
            }
        }
        let needed = [
            "\u{2764}\u{FE0F}", "1\u{FE0F}\u{20E3}", "\u{845B}\u{E0100}", "\u{1820}\u{180B}",
            "\u{2801}\u{2800}\u{2801}",
        ]
        for name in needed { #expect(PlainText.isPlain(name, for: .prose), "\(name)") }
    }

    @Test("Texts are shown without anything that cannot be seen")
    func shown() {
        for (id, shown) in LookalikeIDs.all { #expect(PlainText.shown(id).utf8.elementsEqual(shown.utf8)) }
        #expect(PlainText.shown(" a\n  b ", keeping: ["\n", " "]) == " a\n  b ")
        #expect(PlainText.shown("a\nb\t") == "a\\nb\\t")
    }

    @Test("are refused if they are blank and may not be empty")
    func blank() {
        for text in ["\u{3164}", "\u{FFA0}", "\u{2800}", "\u{FE0F} \u{FE0F}", "\u{301}\u{302}"] {
            #expect(PlainText.isBlank(text))
        }
        for text in [" ", "\u{A0}\u{3000}", "\u{301}"] {
            #expect(PlainText.isBlank(text))
            for use in [PlainText.Use.identifier, .prose, .note] {
                let refusal = #expect(throws: Refusal.self) {
                    try PlainText.require(text, about: .name, bytes: 1...256, for: use)
                }
                #expect(refusal?.code == .malformedRequest && refusal?.subject == .name)
                #expect(throws: Never.self) { try PlainText.require(text, about: .name, bytes: 0...256, for: use) }
            }
        }
        for text in ["-", "ꙮ", " a", "أ", "⠁"] { #expect(!PlainText.isBlank(text)) }
    }
}
