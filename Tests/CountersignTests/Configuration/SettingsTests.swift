import ArgumentParser
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import countersign

@Suite("Settings")
struct SettingsTests {
    private static func resolve(
        _ arguments: [String] = [], environment: [String: String] = [:], file: String? = nil
    ) throws -> Settings {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/countersign.yaml"
        if let file { try Data(file.utf8).write(to: URL(filePath: path)) }
        return try Settings.resolve(
            shared: try SharedOptions.parse([]), serve: try ServeOptions.parse(arguments), environment: environment,
            file: path)
    }

    private static func status(
        _ arguments: [String] = [], environment: [String: String] = [:], file: String? = nil
    ) throws -> CommandFailure.Status? {
        do {
            _ = try resolve(arguments, environment: environment, file: file)
            return nil
        } catch let failure as CommandFailure {
            return failure.exitCode
        }
    }

    @Test("A flag goes before the environment, that before the file, that before the default")
    func order() throws {
        let file = "realm: file\nbase-url: https://file.example/\nops: 127.0.0.1:3\n"
        let environment = ["COUNTERSIGN_REALM": "variable", "COUNTERSIGN_BASE_URL": "https://variable.example"]
        let settings = try Self.resolve(["--realm", "flag"], environment: environment, file: file)
        #expect(settings.realm == "flag")
        #expect(settings.baseURL == "https://variable.example")
        #expect(settings.opsAddress == ListenAddress("127.0.0.1:3"))
        #expect(settings.publicAddress == ListenAddress("127.0.0.1:8440"))
        #expect(settings.store == .sqlite(path: "countersign.db") && settings.cell == .first)
        #expect(settings.texts == "texts.jsonl")
        #expect(settings.limits)
        #expect(try Self.resolve(file: file).baseURL == "https://file.example")
        let elsewhere = try Self.resolve(environment: ["COUNTERSIGN_STORE": "sqlite:/var/c/c.db"])
        #expect(elsewhere.texts == "/var/c/texts.jsonl")
    }

    @Test("Limits go off, and ops listens, on loopback only")
    func loopback() throws {
        #expect(try Self.resolve(["--limits", "off"]).limits == false)
        #expect(try Self.status(["--limits", "off", "--public", "0.0.0.0:8440"]) == .refused)
        #expect(try Self.status(["--ops", "[::]:8442"]) == .refused)
        let named = ["--realm", "a.example", "--base-url", "https://a.example", "--client-url", "https://b.example"]
        #expect(try Self.status(named + ["--ops", "[::]:8442", "--ops-tls"]) == nil)
        #expect(
            try Self.status(named + ["--ops", "[::]:8442"], environment: ["COUNTERSIGN_OPS_TLS": "on"]) == nil)
        #expect(try Self.status(["--ops", "[::]:8442"], file: "ops-tls: off\n") == .refused)
        #expect(try Self.status(environment: ["COUNTERSIGN_OPS_TLS": "yes"]) == .usage)
        #expect(try Self.resolve(["--loopback-urls"]).allowsLoopbackURLs)
        #expect(try !Self.resolve().allowsLoopbackURLs)
        #expect(try Self.status(["--loopback-urls", "--public", "0.0.0.0:8440"]) == .refused)
        #expect(
            try Self.status(["--client", "[::]:8441"], environment: ["COUNTERSIGN_LOOPBACK_URLS": "on"])
                == .refused)
        // An admin command serves nobody: it is not kept from its work by what a start would refuse.
        let directory = try TemporaryDirectory()
        let file = directory.path + "/countersign.yaml"
        try Data("public: 0.0.0.0:8440\nops: 0.0.0.0:8442\nlimits: off\n".utf8).write(to: URL(filePath: file))
        _ = try Settings.resolve(shared: try SharedOptions.parse([]), environment: [:], file: file)
    }

    @Test("Development mode is for this machine only, without limits, with URLs on it")
    func development() throws {
        let settings = try Self.resolve(["--development"])
        #expect(settings.isDevelopment && !settings.limits && settings.allowsLoopbackURLs)
        #expect(try Self.resolve(environment: ["COUNTERSIGN_DEVELOPMENT": "on"]).isDevelopment)
        #expect(try !Self.resolve(["--development"], file: "loopback-urls: off\n").allowsLoopbackURLs)
        #expect(try Self.resolve(["--development", "--limits", "on"]).limits)
        let usual = try Self.resolve()
        #expect(!usual.isDevelopment && usual.limits && !usual.allowsLoopbackURLs)
        let named = ["--realm", "a.example", "--base-url", "https://a.example", "--client-url", "https://b.example"]
        for listener in ["--public", "--client", "--ops"] {
            #expect(try Self.status(["--development", listener, "0.0.0.0:1", "--ops-tls"] + named) == .refused)
        }
        for url in ["--base-url", "--client-url"] {
            #expect(try Self.status(["--development", url, "https://a.example"]) == .refused)
            #expect(try Self.status(["--development", url, "https://127.0.0.1.example"]) == .refused)
            #expect(try Self.status(["--development", url, "https://localhost:9443"]) == nil)
        }
        var policy = Policy()
        try settings.requireServable(policy)
        policy.requests.proxiedNetworks = [try #require(AddressNetwork("127.0.0.0/8"))]
        #expect(throws: CommandFailure.self) { try settings.requireServable(policy) }
        try usual.requireServable(policy)
    }

    @Test("Off loopback a start needs realm and both URLs, and the sentence names those that are missing")
    func seenFromOutside() throws {
        let named = [
            "--realm": "auth.example", "--base-url": "https://auth.example",
            "--client-url": "https://auth.example:8441/",
        ]
        for listener in ["--public", "--client"] {
            #expect(try Self.status([listener, "[::]:8440"] + named.flatMap { [$0, $1] }) == nil)
            for missing in named.keys {
                let failure = #expect(throws: CommandFailure.self) {
                    let rest = named.filter { $0.key != missing }.flatMap { [$0, $1] }
                    _ = try Self.resolve([listener, "0.0.0.0:8440"] + rest)
                }
                let sentence = failure?.sentence ?? ""
                #expect(failure?.exitCode == .refused && sentence.contains("0.0.0.0:8440"))
                #expect(named.keys.filter { sentence.contains($0 + ",") } == [missing], "\(sentence)")
            }
        }
        let settings = try Self.resolve(
            ["--client-url", "https://flag.example:8441/"],
            environment: ["COUNTERSIGN_CLIENT_URL": "https://a.example"],
            file: "client-url: https://file.example\n")
        #expect(settings.clientURL == "https://flag.example:8441")
        #expect(try Self.resolve(file: "client-url: https://file.example\n").clientURL == "https://file.example")
        #expect(
            try Self.status(["--base-url", "https://a.example", "--client-url", "https://a.example/"]) == .refused
        )
    }

    @Test("The file that make run wrote is read where there is no countersign.yaml")
    func writtenFile() throws {
        let directory = try TemporaryDirectory()
        let place = directory.path + "/"
        #expect(Settings.file(in: place) == place + "countersign.yaml")
        try FileManager.default.createDirectory(atPath: place + ".run", withIntermediateDirectories: false)
        // As .run.sh writes it.
        let script = try String(
            contentsOf: RunningService.root.appending(path: ".run.sh"), encoding: .utf8)
        let text = try #require(script.components(separatedBy: "countersign.yaml\" <<EOF\n").last)
        let file = try #require(text.components(separatedBy: "\nEOF\n").first)
            .replacing("$store", with: "sqlite:.run/development.db").replacing("$state", with: ".run")
        try Data(file.utf8).write(to: URL(filePath: place + ".run/countersign.yaml"))
        #expect(Settings.file(in: place) == place + ".run/countersign.yaml")
        let settings = try Settings.resolve(
            shared: try SharedOptions.parse([]), environment: [:], file: Settings.file(in: place))
        #expect(settings.store == .sqlite(path: ".run/development.db") && settings.texts == ".run/texts.jsonl")
        // Another store brings along what lies beside it.
        let other = try Settings.resolve(
            shared: try SharedOptions.parse(["--store", "sqlite:/elsewhere/c.db"]), environment: [:],
            file: Settings.file(in: place))
        #expect(other.texts == "/elsewhere/texts.jsonl")
        try Data("realm: own\n".utf8).write(to: URL(filePath: place + "countersign.yaml"))
        #expect(Settings.file(in: place) == place + "countersign.yaml")
    }

    @Test("A value that cannot be read is a usage error")
    func unreadable() throws {
        for (option, value) in [
            ("--public", "8440"), ("--client", "host.example:1"), ("--limits", "no"), ("--realm", "a b"),
            ("--base-url", "ftp://host.example"), ("--texts", ""), ("--base-url", "http://host.example"),
            ("--client-url", "https://a:b@host.example"), ("--client-url", "https://host.example/\"x"),
        ] {
            #expect(try Self.status([option, value]) == .usage, "\(option)")
        }
        #expect(try Self.status(environment: ["COUNTERSIGN_STORE": "mysql:x"]) == .usage)
        for cell in ["", "-1", "4096", "07", "seven"] { #expect(try Self.status(file: "cell: '\(cell)'\n") == .usage) }
        #expect(try Self.resolve(file: "cell: 4095\n").cell == Cell(4095))
        #expect(try Self.status(file: "relam: x\n") == .usage)
        let failure = #expect(throws: CommandFailure.self) { try Self.resolve(file: "realm: a\nrelam: x\n") }
        #expect(failure?.sentence.hasSuffix(":2: unknown key 'relam'; did you mean 'realm'?") == true)
        #expect(try Self.status(file: "realm: [a, b]\n") == .usage)
        #expect(try Self.status(file: "- realm\n") == .usage)
    }

    @Test("Listening addresses are IP addresses with a port")
    func addresses() {
        #expect(ListenAddress("[::1]:0")?.description == "[::1]:0")
        #expect(ListenAddress("localhost:1")?.description == "127.0.0.1:1")
        for text in ["127.0.0.1:0", "127.8.9.10:1", "[::1]:65535", "[::ffff:127.0.0.1]:1"] {
            #expect(ListenAddress(text)?.isLoopback == true, "\(text)")
        }
        for text in ["0.0.0.0:1", "[::]:1", "128.0.0.1:1", "[::ffff:10.0.0.1]:1", "[fe80::1]:1"] {
            #expect(ListenAddress(text)?.isLoopback == false, "\(text)")
        }
        for text in [
            "", ":1", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:1", "[127.0.0.1]:1", "a:1",
        ] {
            #expect(ListenAddress(text) == nil, "\(text)")
        }
    }

    @Test("Errors end the process with the contract's codes")
    func endings() {
        #expect(CommandEnding(CommandFailure("No.")).status == 1)
        #expect(CommandEnding(CommandFailure("No.", exitCode: .usage)).status == 2)
        #expect(CommandEnding(StoreError.unavailable(reason: "it is busy")).status == 69)
        #expect(CommandEnding(StoreError.statement(reason: "x")).status == 1)
        #expect(
            CommandEnding(Refusal(.malformedRequest, "The name is empty.")).stderr
                == "countersign: The name is empty.\n")
        for (arguments, status) in [(["keys", "forge"], 2), (["--help"], 0), (["keys", "init", "--frob"], 2)] {
            do {
                _ = try Countersign.parseAsRoot(arguments)
                if status != 0 { Issue.record("\(arguments) were accepted") }
            } catch {
                #expect(CommandEnding(error).status == Int32(status), "\(arguments)")
            }
        }
    }
}

@Suite("JSON text")
struct JSONTextTests {
    @Test("What is written is read as the same value")
    func roundTrip() throws {
        let value = JSONValue.object([
            "text": .string("quote \" solidus \\ / line \n null \u{0} unit \u{1F} é 𝄞 \u{2028}"),
            "list": .array([.null, .bool(true), .bool(false), .integer(.min), .number(0.5), .array([]), .object([])]),
        ])
        #expect(try StrictJSON.parse(Array(value.jsonText.utf8)) == value)
        #expect(JSONValue.string("\u{1}\u{1F}\n").jsonText == #""\u0001\u001f\n""#)
        #expect(JSONValue.number(.infinity).jsonText == "null")
    }
}
