import ArgumentParser
import Database
import Domain
import Encoding
import Foundation
import Repositories
import Testing

@testable import countersign

/// Rules that hold for every command, by the tree of commands. All run in this process.
@Suite("Every command", .serialized)
struct EveryCommandTests {
    /// How a command ends on the places of an installation: its report, or the error.
    private static func end(_ words: [String], at installation: Installation) async -> Result<Report, any Error> {
        let places = stride(from: 0, to: installation.places.count, by: 2).flatMap { index in
            words.contains(installation.places[index]) ? [] : Array(installation.places[index...(index + 1)])
        }
        do {
            let parsed = try CommandLineWords.parse(words + places)
            guard let command = parsed as? any ReportingCommand else { throw ExitCode(0) }
            return .success(try await command.report())
        } catch {
            return .failure(error)
        }
    }

    @Test("has an example on its help page, which the parser accepts and which fits a line")
    func examples() throws {
        #expect(EveryCommand.all.count > 70)
        for command in EveryCommand.all {
            guard let words = command.example else {
                Issue.record("\(command) has no example")
                continue
            }
            #expect(Array(words.prefix(command.path.count)) == command.path, "\(command)")
            let isSame = try type(of: CommandLineWords.parse(words)) == command.type
            #expect(isSame, "\(command)")
        }
    }

    @Test("refuses an option that is given twice, unless both values count")
    func repeated() throws {
        var (refused, repeating) = (0, 0)
        for command in EveryCommand.all {
            for option in command.options where option.valueName != nil {
                for name in option.names {
                    for words in [["--\(name)", "1", "--\(name)", "2"], ["--\(name)=1", "--\(name)", "2"]] {
                        let error = #expect(throws: (any Error).self) {
                            // No word is a value of another command's option, so the parser ends this one too.
                            _ = try CommandLineWords.parse(command.path + words + ["--nothing"])
                        }
                        let ending = CommandEnding(try #require(error))
                        #expect(ending.status == 2, "\(command) --\(name)")
                        let isRefused = ending.stderr.contains("--\(name) was given more than once")
                        #expect(isRefused != option.isRepeating, "\(command) --\(name): \(ending.stderr)")
                        if isRefused { refused += 1 } else { repeating += 1 }
                    }
                }
            }
        }
        #expect(refused > 500 && repeating > 10)
        // What follows -- is an argument, and a flag that is given twice means the same.
        #expect(throws: Never.self) {
            _ = try CommandLineWords.parse(["status", "--json", "--json"])
            _ = try CommandLineWords.parse(["texts", "lift", "--reason", "x", "--", "--reason"])
        }
    }

    @Test("refuses a duration without a unit")
    func durations() async throws {
        let installation = try await Installation()
        var count = 0
        for command in EveryCommand.all {
            for option in command.options where option.help.contains(/\b[0-9]+(?:ms|s|m|h|d)\b/) {
                count += 1
                let name = try #require(option.names.first)
                for value in ["30", "0", "1.5"] {
                    let words = command.example(without: name) + ["--\(name)", value]
                    guard case .failure(let error) = await Self.end(words, at: installation) else {
                        Issue.record("\(words) was accepted")
                        continue
                    }
                    let ending = CommandEnding(error)
                    #expect(ending.status == 2 && ending.stderr.contains("with its unit"), "\(words): \(ending.stderr)")
                }
            }
        }
        #expect(count >= 4)
    }

    /// A word of an example that names an object, and the forms in which an admin may type another one.
    private static func unknown(_ word: String) -> [String] {
        if word.wholeMatch(of: /[0-9a-f]{8,}/) != nil {
            return [word, word.uppercased(), "00000000-0000-4000-8000-000000000000", "0123456", "nonsense!", "x/y"]
        }
        if word == "acme/ada" {
            return [word, "test/nobody", "00000000-0000-4000-8000-000000000000", "01234567", "nobody", ""]
        }
        return word == "acme" ? [word, "00000000-0000-4000-8000-000000000000", "01234567", "No Slug", ""] : []
    }

    /// The calls of a command whose example names an object, with other names.
    private static func unknownCalls(of command: EveryCommand) -> [[String]] {
        let example = command.example ?? []
        return example.indices.dropFirst(command.path.count).flatMap { place in
            unknown(example[place]).map { form in
                var words = example
                words[place] = form
                return words
            }
        }
    }

    /// The commands whose example names an object.
    private static var naming: [String: EveryCommand] {
        Dictionary(
            uniqueKeysWithValues: EveryCommand.all.filter { !unknownCalls(of: $0).isEmpty }.map { ("\($0)", $0) })
    }

    @Test("refuses an unknown id or name in every form, and says what to do", arguments: naming.keys.sorted())
    func unknownNames(name: String) async throws {
        let command = try #require(Self.naming[name])
        let installation = try await Installation()
        for words in Self.unknownCalls(of: command) {
            guard case .failure(let error) = await Self.end(words, at: installation) else {
                Issue.record("\(words) was accepted")
                continue
            }
            let ending = CommandEnding(error, arguments: words)
            #expect([1, 2].contains(ending.status), "\(words): \(ending.stderr)")
            #expect(ending.stderr.contains(/\. [A-Z].*\.|: .*: [a-z].*\./), "\(words): \(ending.stderr)")
            #expect(!ending.stderr.contains("internal error"), "\(words): \(ending.stderr)")
        }
    }

    @Test("names an object in most examples")
    func names() {
        #expect(Self.naming.values.flatMap(Self.unknownCalls).count > 150)
    }

    @Test("fits 80 columns on its help page")
    func help() {
        for command in EveryCommand.pages {
            let page = HelpPage.fitted(Countersign.helpMessage(for: command.type, columns: 80), width: 80)
            #expect(page.contains("USAGE: countersign"), "\(command)")
            for line in page.split(separator: "\n") { #expect(line.count <= 80, "\(command): \(line)") }
        }
    }

    @Test(
        "is named whole where its help or an error begins",
        arguments: [
            ["provider", "key", "list", "--help"], ["status", "--json", "--help"], ["help", "status"],
            ["status", "--nothing"], ["status", "word"], ["provider", "key", "list"],
        ])
    func wholeName(words: [String]) throws {
        let error = #expect(throws: (any Error).self) {
            var command = try CommandLineWords.parse(words)
            try command.run()
        }
        let ending = CommandEnding(try #require(error), arguments: words)
        let name = words.filter { !$0.hasPrefix("-") && !["help", "word"].contains($0) }.joined(separator: " ")
        let page = ending.output + ending.stderr
        #expect(page.lowercased().contains("usage: countersign \(name) "), "\(page)")
    }

    @Test("has tables of 80 columns, and one JSON value of the same result")
    func tables() async throws {
        let installation = try await Installation()
        try await installation.within { store in
            try await store.write { transaction in
                let provider = try #require(try ProviderRepository(transaction).list().first)
                _ = try UserRepository(transaction).findOrCreate(
                    providerID: provider.id, externalID: "ada", newID: UserID(UUID()), at: transaction.now)
            }
        }
        // These run on, make files in the working directory, or need a service or another store.
        let others: Set<String> = [
            "serve", "tour", "inbox", "audit export", "store backup", "store restore", "store copy", "store reopen",
            "admin add", "admin renew",
        ]
        var count = 0
        for command in EveryCommand.all where !others.contains(command.description) {
            let words = (command.example ?? []).map { $0.replacing("acme/", with: "test/") }
                .map { $0 == "acme" ? "test" : $0 }.filter { $0 != "--json" }
            guard case .success(let report) = await Self.end(words, at: installation) else { continue }
            count += 1
            let text = report.tables.map { Output.columns($0, width: 80) }.joined(separator: "\n")
            for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(words): \(line)") }
            #expect(throws: Never.self, "\(words)") {
                _ = try CommandLineWords.parse(words + ["--json"])
                _ = try StrictJSON.parse(Array(Output.text(report.json).utf8))
            }
        }
        #expect(count > 20)
    }
}
