import ArgumentParser
import Domain
import Foundation
import Testing

@testable import countersign

/// What every command says of itself, and the options that all admin commands share.
@Suite("The help")
struct HelpTests {
    struct Description {
        let path: String
        let value: [String: Any]

        var subcommands: [Description] {
            (value["subcommands"] as? [[String: Any]] ?? []).compactMap { command in
                guard let name = command["commandName"] as? String, name != "help" else { return nil }
                return Description(path: "\(path) \(name)", value: command)
            }
        }

        var arguments: [[String: Any]] { value["arguments"] as? [[String: Any]] ?? [] }

        var all: [Description] { [self] + subcommands.flatMap(\.all) }
    }

    static func described() throws -> [Description] {
        let error = #expect(throws: (any Error).self) {
            _ = try Countersign.parseAsRoot(["--experimental-dump-help"])
        }
        let ending = CommandEnding(try #require(error))
        #expect(ending.status == 0)
        let root = try #require(try JSONSerialization.jsonObject(with: Data(ending.output.utf8)) as? [String: Any])
        return Description(path: "countersign", value: try #require(root["command"] as? [String: Any])).all
    }

    @Test("tells of every command what it does, and of every option and argument what it takes")
    func complete() throws {
        let commands = try Self.described()
        #expect(commands.count > 50)
        for command in commands {
            #expect((command.value["abstract"] as? String)?.isEmpty == false, "\(command.path)")
            for argument in command.arguments where argument["shouldDisplay"] as? Bool == true {
                let name = argument["valueName"] as? String ?? "?"
                #expect((argument["abstract"] as? String)?.isEmpty == false, "\(command.path): \(name)")
            }
        }
    }

    @Test("has --yes for every command with --dry-run, whether it asks or not, and for each that asks")
    func agreements() throws {
        var checked = 0
        for command in try Self.described() where command.subcommands.isEmpty {
            let names = command.arguments.flatMap {
                ($0["names"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
            }
            guard names.contains("dry-run") || command.path == "countersign provider stream approve" else { continue }
            checked += 1
            #expect(names.contains("yes"), "\(command.path)")
        }
        #expect(checked > 15)
        let ending = ["user", "end-sessions", "acme/ada", "--reason", "ticket:1", "--yes"]
        _ = try Countersign.parseAsRoot(ending)
    }

    @Test("has every flag that a refusal names")
    func flagsOfRefusals() throws {
        let names = try Self.described().flatMap(\.arguments).flatMap { argument in
            (argument["names"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
        }
        let flags = Refusal.Subject.allCases.flatMap { subject in
            Refusal(.malformedRequest, "X.", about: subject).commandWording.matches(of: /--([a-z-]+)/).map {
                String($0.output.1)
            }
        }
        #expect(flags.count >= 8)
        for flag in flags { #expect(names.contains(flag), "\(flag)") }
    }

    @Test("says what a command does as an order, and what an option takes in one sentence")
    func imperative() throws {
        for command in try Self.described() {
            let abstract = command.value["abstract"] as? String ?? ""
            let verb = abstract.prefix { $0.isLetter }
            // Shows, Lists, Revokes …: an order has no s.
            #expect(verb == "Authenticates" || !verb.hasSuffix("s"), "\(command.path): \(abstract)")
            for argument in command.arguments where argument["shouldDisplay"] as? Bool == true {
                let help = argument["abstract"] as? String ?? ""
                #expect(help.wholeMatch(of: /(?:How many|Its |Who |Why:|Only those|When |Whom ).*/) == nil, "\(help)")
            }
        }
    }

    @Test("breaks no sentence of a discussion at the end of a source line")
    func paragraphs() throws {
        for command in try Self.described() {
            let lines = (command.value["discussion"] as? String ?? "").split(separator: "\n")
            for line in lines where !line.hasPrefix("  countersign ") {
                #expect(line.hasSuffix(".") || line.hasSuffix(":"), "\(command.path): \(line)")
            }
        }
    }

    @Test("offers --json, --store, --keys, --policies and --cell with every command")
    func shared() throws {
        for command in try Self.described() where command.subcommands.isEmpty {
            let names = command.arguments.compactMap { ($0["preferredName"] as? [String: Any])?["name"] as? String }
            #expect(Set(["json", "store", "keys", "policies", "cell"]).isSubset(of: names), "\(command.path)")
        }
    }

    @Test(
        "names the command that was probably meant, and says nothing of words that are arguments",
        arguments: [
            (["provder", "list"], "unknown command 'countersign provder'; did you mean 'countersign provider'?"),
            (["texts", "lst"], "unknown command 'countersign texts lst'; did you mean 'countersign texts list'?"),
            (
                ["ban", "ad", "--user", "x"],
                "unknown command 'countersign ban ad'; did you mean 'countersign ban add'?"
            ),
            (["texts", "frobnicate"], "unknown command 'countersign texts frobnicate'; known: lift, list"),
            (["ban", "lift", "lst"], nil), (["--json", "provder"], nil), (["help", "provder"], nil), ([], nil),
        ] as [([String], String?)])
    func mistyped(arguments: [String], sentence: String?) throws {
        #expect(UnknownCommand.sentence(arguments) == sentence)
        guard let sentence else { return }
        let error = #expect(throws: (any Error).self) { _ = try Countersign.parseAsRoot(arguments) }
        let ending = CommandEnding(try #require(error), arguments: arguments)
        #expect(ending.status == 2)
        #expect(ending.stderr.hasPrefix("Error: \(sentence)\nUsage: countersign "), "\(ending.stderr)")
    }
}
