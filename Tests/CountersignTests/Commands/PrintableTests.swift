import ArgumentParser
import Domain
import Encoding
import Fixtures
import Foundation
import Logging
import Testing

@testable import countersign

@Suite("What is printed")
struct PrintableTests {
    /// What a terminal obeys, turns around or does not show: C0, DEL, C1, direction, joiners, tags, separators, fillers.
    static let hidden: [Unicode.Scalar] = [
        "\u{0}", "\u{8}", "\n", "\r", "\t", "\u{1B}", "\u{7F}", "\u{80}", "\u{9B}", "\u{9F}", "\u{AD}", "\u{61C}",
        "\u{115F}",
        "\u{180E}", "\u{200B}", "\u{200D}", "\u{200E}", "\u{200F}", "\u{2028}", "\u{2029}", "\u{202A}", "\u{202E}",
        "\u{2060}", "\u{2066}", "\u{2069}", "\u{3164}", "\u{FE0F}", "\u{FEFF}", "\u{FFF9}", "\u{1D173}", "\u{E0001}",
        "\u{E0041}",
    ]

    @Test("shows to people what a terminal would obey or hide, and leaves the scripts of the world alone")
    func people() {
        for scalar in Self.hidden {
            let shown = Output.columns([["note", "a\(scalar)b"]])
            guard scalar != "\n", scalar != "\t" else { continue }
            #expect(shown == "note  a\\u{\(String(scalar.value, radix: 16, uppercase: true))}b\n")
        }
        #expect(Output.columns([["note", "one\n\ttwo"]]) == "note  one\\n\\ttwo\n")
        #expect(
            Array(Output.columns([["X\u{202E}"], ["y"]]).unicodeScalars).filter(PlainText.isInvisible) == ["\n", "\n"])
        for text in ["José Müller", "Ζωή", "李小龙", "مريم", "שרה", "नमस्ते", "한글", "e\u{301}", "😀", "\\u{202E}", ""] {
            #expect(PlainText.shown(text) == text)
            #expect(Printable.json(JSONValue.string(text).jsonText) == JSONValue.string(text).jsonText)
        }
        #expect(PlainText.shown("one\ntwo\u{9B}", keeping: ["\n"]) == "one\ntwo\\u{9B}")
        for (id, shown) in LookalikeIDs.all { #expect(Output.columns([["user", id]]) == "user  \(shown)\n") }
    }

    @Test("is JSON of the same value with those characters escaped, whatever the value")
    func programs() throws {
        var random = SeededRandom(seed: 6)
        let plain: [Unicode.Scalar] = ["a", "\"", "\\", "/", "u", "é", "😀"]
        for _ in 0..<500 {
            let scalars = (0..<12).compactMap { _ in (Self.hidden + plain).randomElement(using: &random) }
            let text = String(String.UnicodeScalarView(scalars))
            let value = JSONValue.object([text: .array([.string(text), .null, .integer(1)])])
            let shown = Printable.json(value.jsonText)
            #expect(!shown.unicodeScalars.contains(where: PlainText.isInvisible), "\(scalars.map(\.value))")
            #expect(try StrictJSON.parse(Array(shown.utf8)) == value, "\(scalars.map(\.value))")
        }
        #expect(Printable.json("\"\u{E0001}\"\n\"\u{9B}\"\n") == #""\udb40\udc01""# + "\n" + #""\u009b""# + "\n")
    }

    @Test("leaves the program in one place: no other file of the command line writes to standard output or error")
    func onePlace() throws {
        for file in try SourceFile.all(below: "Sources/countersign") {
            // The first is the place, the second draws a progress line, the third hands the log's writer to the service.
            guard !["Output.swift", "Terminal.swift", "ServeCommand.swift"].contains(file.name) else { continue }
            for way in [
                /\bstandardOutput\b/, /\bstandardError\b/, /\bprint\(/, /\bfputs\(/, /\bdebugPrint\(/, /\bdump\(/,
            ] {
                #expect(!file.text.contains(way), "\(file.path)")
            }
        }
    }

    @Test("of a command is described once: it returns a report, and one place shows it and reads --json")
    func described() throws {
        for file in try SourceFile.all(below: "Sources/countersign") {
            if file.name != "ReportingCommand.swift" { #expect(!file.text.contains("shared.json"), "\(file.path)") }
            let places = [
                // The two that show reports, the question, the end of the process, the tour's steps, the ready line, the
                // note that a command created a store.
                "ReportingCommand.swift", "Output.swift", "Confirmation.swift", "Countersign.swift", "TourScript.swift",
                "Server.swift", "Installation.swift",
            ]
            // `Output.text` makes a text and writes nothing.
            guard !places.contains(file.name) else { continue }
            #expect(!file.text.contains(/\bOutput\.(?!text\b)/), "\(file.path)")
        }
        for command in Self.commands(Countersign.self) where command.configuration.subcommands.isEmpty {
            // The service writes a log, not a report.
            #expect(command is any ReportingCommand.Type || command == ServeCommand.self, "\(command)")
        }
    }

    private static func commands(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap(commands)
    }

    @Test("of the log is one line of JSON, without what a terminal would obey")
    func log() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/log"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let writer = LogWriter(try #require(FileHandle(forWritingAtPath: path)))
        let text = String(String.UnicodeScalarView(Self.hidden))
        JSONLogHandler(writer: writer, level: .info).log(
            event: .init(
                level: .error, message: "\(text)", metadata: ["cause": "\(text)"], source: "test", file: "test",
                function: "test", line: 1))
        writer.flush()
        let line = try String(contentsOfFile: path, encoding: .utf8)
        #expect(Array(line.unicodeScalars).filter(PlainText.isInvisible) == ["\n"])
        let value = try StrictJSON.parse(Array(line.utf8))
        #expect(value["message"]?.text == text && value["cause"]?.text == text)
    }

    @Test("of the log is whole, however many threads write and however long its text is")
    func lines() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/log"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let writer = LogWriter(try #require(FileHandle(forWritingAtPath: path)))
        let handler = JSONLogHandler(writer: writer, level: .info)
        let texts = (0..<400).map { String(repeating: "\($0) ", count: $0 % 40 == 0 ? 2000 : 5) }
        DispatchQueue.concurrentPerform(iterations: texts.count) { index in
            handler.log(
                event: .init(
                    level: .info, message: "\(texts[index])", metadata: nil, source: "test", file: "test",
                    function: "test", line: 1))
        }
        writer.flush()
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let values = try lines.map { try StrictJSON.parse(Array($0.utf8)) }
        #expect(Set(values.compactMap { $0["message"]?.text }) == Set(texts) && values.count == texts.count)
        let times = values.compactMap { $0["time"]?.text }
        #expect(times.count == texts.count && times.allSatisfy { $0.count == 20 && $0.hasSuffix("Z") })
    }
}
