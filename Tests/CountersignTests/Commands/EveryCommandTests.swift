import ArgumentParser
import Encoding
import Foundation
import Testing

@testable import countersign

/// Rules that hold for every command, by the tree of commands. All run in this process.
@Suite("Every command", .serialized)
struct EveryCommandTests {
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

    @Test("refuses a duration without a unit, and a number as a time")
    func times() async throws {
        let world = try await ExampleWorld()
        var count = 0
        for command in EveryCommand.all {
            let options = command.timeOptions
            for option in options {
                count += 1
                let name = try #require(option.names.first)
                let rest = world.words(of: command, without: options.flatMap(\.names))
                for value in ["30", "0", "1.5", ""] {
                    let words = rest + ["--\(name)", value]
                    guard case .failure(let error) = await world.end(words) else {
                        Issue.record("\(words) was accepted")
                        continue
                    }
                    let ending = CommandEnding(error)
                    #expect(
                        ending.status == 2 && ending.stderr.contains("--\(name) must be "), "\(words): \(ending.stderr)"
                    )
                    guard option.help.contains(/\b[0-9]+(?:ms|s|m|h|d)\b/) else { continue }
                    #expect(ending.stderr.contains("with its unit"), "\(words): \(ending.stderr)")
                }
            }
        }
        #expect(count >= 10)
    }

    /// Texts that name no object and continue no list.
    private static let nameless = [
        "", " ", "b", "0123456", "1234567", "nonsense!", "x/y", "00000000-0000-4000-8000-000000000000",
    ]

    /// A word of an example that names an object, and the forms in which an admin may type another one.
    private static func unknown(_ word: String) -> [String] {
        if word.wholeMatch(of: /[0-9a-f]{8,}/) != nil { return [word, word.uppercased()] + nameless }
        switch word {
        case "acme/ada": return ["acme/ada", "test/nobody", "01234567", "nobody"] + nameless
        case "acme": return ["acme", "01234567", "No Slug"] + nameless
        case "lena": return ["lena", "nobody"] + nameless
        default: return []
        }
    }

    /// The calls of a command whose example names an object, with other names.
    private static func unknownCalls(of command: EveryCommand, in world: ExampleWorld?) -> [[String]] {
        let example = ExampleWorld.example(of: command)
        let known = world?.words(of: command) ?? example
        // This one makes what it names.
        let first = command.description == "admin add" ? example.count : command.path.count
        return example.indices.dropFirst(first).flatMap { place in
            let isValue = place > 0 && example[place - 1].hasPrefix("--")
            return (isValue ? [] : unknown(example[place])).map { form in
                var words = known
                words[place] = form
                return words
            }
        }
    }

    /// The commands whose example names an object in an argument.
    private static var naming: [String: EveryCommand] {
        Dictionary(
            uniqueKeysWithValues: EveryCommand.all.filter { !unknownCalls(of: $0, in: nil).isEmpty }.map {
                ("\($0)", $0)
            })
    }

    /// An error must say what is wrong and what to do, and show the text that it is about.
    private static func expectSentence(_ error: any Error, _ words: [String], about option: String? = nil) {
        let ending = CommandEnding(error, arguments: words)
        let first = ending.stderr.prefix { $0 != "\n" }
        let isParsers = option.map { first.contains(" is invalid for '--\($0) ") } ?? false
        #expect([1, 2].contains(ending.status), "\(words): \(ending.stderr)")
        #expect(isParsers || first.contains(/\. [A-Z].*\.|: .*: [a-z].*\./), "\(words): \(ending.stderr)")
        #expect(!first.contains("internal error"), "\(words): \(ending.stderr)")
        #expect(!first.contains(#/  | [.:,]/#), "\(words): \(ending.stderr)")
    }

    @Test("refuses an unknown id or name in every form, and says what to do", arguments: naming.keys.sorted())
    func unknownNames(name: String) async throws {
        let command = try #require(Self.naming[name])
        let world = try await ExampleWorld()
        for words in Self.unknownCalls(of: command, in: world) {
            guard case .failure(let error) = await world.end(words) else {
                Issue.record("\(words) was accepted")
                continue
            }
            Self.expectSentence(error, words)
        }
    }

    @Test("names an object in most examples")
    func names() {
        #expect(Self.naming.values.flatMap { Self.unknownCalls(of: $0, in: nil) }.count > 300)
    }

    @Test("refuses an unknown id or cursor in every option, or says that nothing has it")
    func unknownOptions() async throws {
        let world = try await ExampleWorld()
        var (ids, cursors) = (0, 0)
        for command in EveryCommand.all {
            let options = command.namingOptions
            for option in options {
                let name = try #require(option.names.first)
                if name == "cursor" { cursors += 1 } else { ids += 1 }
                // Another option stays if this one belongs to it. An optional argument takes the place of an option.
                let others = options.flatMap(\.names).filter { !option.help.contains("--\($0)") || $0 == name }
                let rest = world.words(of: command, without: others).filter {
                    !command.hasOptionalArgument || $0.wholeMatch(of: /[0-9a-f]{8,}/) == nil
                }
                for value in Self.nameless {
                    let words = rest + ["--\(name)", value]
                    switch await world.end(words) {
                    case .failure(let error): Self.expectSentence(error, words, about: name)
                    case .success(let report):
                        // A list that ends before a number ends before each number.
                        let mayPass = name != "cursor" || option.help.hasPrefix("End before") && Int(value) != nil
                        #expect(mayPass && !report.notes.isEmpty, "\(words) was accepted")
                    }
                }
            }
        }
        #expect(ids >= 13 && cursors >= 10)
    }

    @Test("says in the help of an option that it takes an id, if it does")
    func typedOptions() throws {
        var count = 0
        for command in EveryCommand.all {
            let typed = try command.typedOptions()
            count += typed.count
            #expect(typed.isSubset(of: command.namingOptions.flatMap(\.names)), "\(command): \(typed)")
        }
        #expect(count >= 5)
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

    /// These run on, make files elsewhere, or need a service or another store.
    private static let notRun: Set<String> = [
        "serve", "tour", "audit export", "store restore", "store copy", "store reopen",
    ]

    /// The commands whose example fails without a service, and a part of the sentence that says why.
    private static let failing = [
        "provider client list": "signs its own identity tokens", "provider client add": "signs its own identity tokens",
        "provider client remove": "signs its own identity tokens", "provider stream show": "No stream has an id",
        "provider stream approve": "No stream has an id", "certificate show": "There is no certificate",
        "certificate revoke": "There is no certificate", "session show": "No session has an id",
        "session challenge": "No session has an id", "session end": "No session has an id",
        "review show": "No card has an id", "review approve": "No card has an id", "review reject": "No card has an id",
        "outbox drop": "No message has an id", "texts lift": "No texts of this name are limited",
        "device show": "No device has an id", "device revoke": "No device has an id", "ban lift": "No ban has an id",
        "ban show": "No ban has an id", "admin renew": "is already removed",
        "admin confirm": "No waiting act has an id",
        "sample wallet answer": "opened.json cannot be read", "wallet verify": "answer.json cannot be read",
        "issuer fetch": "No list of issuers is used",
    ]

    @Test("runs its example, and has tables of 80 columns and one JSON value of the same result")
    func tables() async throws {
        let world = try await ExampleWorld()
        let names = Set(EveryCommand.all.map(\.description))
        #expect(Self.notRun.union(Self.failing.keys).isSubset(of: names))
        for command in EveryCommand.all where !Self.notRun.contains(command.description) {
            let words = world.words(of: command)
            switch await world.end(words) {
            case .failure(let error):
                let reason = Self.failing[command.description]
                let stderr = CommandEnding(error).stderr
                #expect(reason.map { stderr.contains($0) } == true, "\(words): \(stderr)")
            case .success(let report):
                #expect(Self.failing[command.description] == nil, "\(words) succeeds: take it out of the list")
                let text = Output.text(report, width: 80)
                // What is input for another program is not broken into lines, and has no line feed that it does not need.
                if report.text == nil {
                    #expect(text.isEmpty || text.last == "\n", "\(words)")
                    for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(words): \(line)") }
                }
                #expect(throws: Never.self, "\(words)") {
                    _ = try CommandLineWords.parse(words + ["--json"])
                    _ = try StrictJSON.parse(Array(Output.text(report.json).utf8))
                }
            }
        }
    }
}
