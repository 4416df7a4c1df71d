import ArgumentParser
import Foundation
import Testing

@testable import countersign

/// What the documents say to type.
@Suite("The commands of the documents")
struct DocumentedCommandTests {
    /// A command as a document writes it between backticks, `countersign ban add --user SLUG/NAME`: its path and flags.
    private struct Written {
        let document: String
        let text: String
        let path: [String]
        let flags: [String]

        init(_ text: String, in document: String) {
            self.document = document
            self.text = text
            let words = text.split(whereSeparator: \.isWhitespace).dropFirst()
            path = words.prefix { $0.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil }.map(String.init)
            flags = text.matches(of: /--[a-z][a-z-]*/).map { String($0.output) }
        }
    }

    private func commands() throws -> [Written] {
        try MarkdownDocument.all().flatMap { document in
            MarkdownDocument.words(document.prose.replacing("\n", with: " "))
                .filter { $0.hasPrefix("countersign ") }.map { Written($0, in: document.path) }
        }
    }

    /// Each help is written once: that takes longer than all else here.
    private final class Helps {
        private var known: [[String]: String] = [:]

        /// The help of a command; empty if there is none.
        private func text(of path: [String]) -> String {
            if let text = known[path] { return text }
            var text = ""
            do {
                // Running what was parsed throws the help, if parsing did not.
                var command = try Countersign.parseAsRoot(path + ["--help"])
                try command.run()
            } catch {
                text = Countersign.fullMessage(for: error)
            }
            let usage = (["USAGE: countersign"] + path).joined(separator: " ")
            known[path] = text.contains(usage) ? text : ""
            return known[path] ?? ""
        }

        /// The help of the longest command that the path names, and how many of its words are names of commands.
        func help(_ path: [String]) -> (text: String, depth: Int) {
            var found = ("", 0)
            for depth in 0...path.count {
                let text = text(of: Array(path.prefix(depth)))
                guard !text.isEmpty else { return found }
                found = (text, depth)
            }
            return found
        }
    }

    @Test("are there, with every flag")
    func present() throws {
        let commands = try commands()
        let helps = Helps()
        #expect(commands.count > 60)
        for command in commands where command.path != ["help"] {
            let (help, depth) = helps.help(command.path)
            #expect(depth > 0 || command.path.isEmpty, "\(command.document): \(command.text)")
            // A word behind the command's name is its argument, if it takes one.
            #expect(depth == command.path.count || help.contains("ARGUMENTS:"), "\(command.document): \(command.text)")
            for flag in command.flags where flag != "--generate-completion-script" {
                let isThere = help.split(whereSeparator: \.isWhitespace).contains { $0 == flag }
                #expect(isThere, "\(command.document): \(command.text) has no \(flag)")
            }
        }
    }
}
