import Domain
import Encoding
import Fixtures
import Foundation
import Testing

/// The documents of the protocol against the sources: nothing is missing, and nothing is described that is not there.
@Suite("The documents of the protocol")
struct ProtocolDocumentTests {
    private static let folder = "Sources/API/API.docc"
    private let codes: MarkdownDocument
    private let source: SourceWords

    init() throws {
        codes = try MarkdownDocument(Self.folder + "/Codes.md")
        source = try SourceWords()
    }

    private func text(_ file: String) throws -> String {
        try String(contentsOf: RunningService.root.appending(path: "Sources/API/Answers/\(file)"), encoding: .utf8)
    }

    @Test("name every route of the sources, and no other")
    func routes() throws {
        let document = try MarkdownDocument(Self.folder + "/Protocol.md")
        let call = /\b(GET|POST|PUT|PATCH|DELETE) (\/(?:[a-z0-9.\/-]|\{[a-z_]+\})*)/
        let named = Set(document.text.matches(of: call).map { "\($0.1) \($0.2)" })
        let routes = try DescriptionTests.routes()
        #expect(routes.count > 40)
        #expect(routes.subtracting(named).sorted() == [], "not described")
        #expect(named.subtracting(routes).sorted() == [], "described, and not there")
        // The table of calls by listener comes first.
        let listed = Set(MarkdownDocument.rows(document.text).flatMap { MarkdownDocument.words($0[2]) })
        #expect(listed.symmetricDifference(routes).sorted() == [], "not in the table of calls, or not there")
    }

    @Test("say of every route what a call of it costs, and how many calls of that are taken")
    func costs() throws {
        let rows = MarkdownDocument.rows(try MarkdownDocument(Self.folder + "/Protocol.md").section("Limits"))
        let named = Dictionary(
            uniqueKeysWithValues: rows.flatMap { row in
                MarkdownDocument.words(row[1]).filter { $0.contains(" /") }.map {
                    ($0, MarkdownDocument.words(row[0])[0])
                }
            })
        for (route, cost) in try DescriptionTests.costs() {
            let usual = route.hasPrefix("GET ") ? "read" : "write"
            #expect(named[route, default: usual] == cost, "\(route)")
        }
        let limits = Policy().requests
        for (row, cost) in zip(rows, CallCost.allCases) {
            #expect(MarkdownDocument.words(row[0]) == [cost.rawValue])
            let limit = limits.limit(of: cost, for: .address(""))
            let number = row[2].prefix { $0.isNumber || $0 == "," }.filter(\.isNumber)
            #expect(number == limit.map { "\($0.count)" } ?? "", "\(row)")
        }
        #expect(rows.count == CallCost.allCases.count)
    }

    @Test("have every code, and no other")
    func everyCode() throws {
        let ofHTTP = try text("HTTPDefect.swift").matches(of: /case \.\w+: "([a-z_]+)"/).map { String($0.1) }
        #expect(ofHTTP.count == 5)
        let sent = Set(Refusal.Code.allCases.map(\.rawValue)).union(ofHTTP).union(["internal_error"])
        let described = MarkdownDocument.rows(codes.section("Codes")).compactMap { MarkdownDocument.words($0[0]).first }
        #expect(Set(described) == sent)
        #expect(described.count == sent.count, "one line for each")
    }

    @Test("have the codes of the OpenAPI document")
    func openAPI() throws {
        let file = RunningService.root.appending(path: "Sources/API/openapi.json")
        let problem = try StrictJSON.parse(try Data(contentsOf: file))["components"]?["schemas"]?["Problem"]
        guard case .array(let codes)? = problem?["properties"]?["code"]?["enum"] else {
            Issue.record("Problem has no list of codes")
            return
        }
        let described = MarkdownDocument.rows(self.codes.section("Codes")).compactMap {
            MarkdownDocument.words($0[0]).first
        }
        #expect(Set(codes.compactMap(\.text)) == Set(described))
    }

    @Test("have an OpenAPI document that two validators accept, neither of which accepts a planted error")
    func validOpenAPI() async throws {
        try await expectScript("Documents/openapi.py", ["--root", RunningService.root.path], seconds: 400)
    }

    @Test("give every code of a refusal the status that the service sends")
    func statuses() throws {
        let names = [
            "badRequest": 400, "unauthorized": 401, "forbidden": 403, "notFound": 404, "conflict": 409, "gone": 410,
            "contentTooLarge": 413, "unsupportedMediaType": 415, "unprocessableContent": 422, "tooManyRequests": 429,
            "serviceUnavailable": 503,
        ]
        let problem = try text("Problem.swift")
        let start = try #require(problem.range(of: "static func status(of code: Refusal.Code)"))
        let table = problem[start.upperBound...].prefix { $0 != "}" }
        let described = Dictionary(
            uniqueKeysWithValues: MarkdownDocument.rows(codes.section("Codes")).map { row in
                (MarkdownDocument.words(row[0])[0], Int(row[1].prefix { $0.isNumber }))
            })
        var seen = 0
        for entry in table.matches(of: /case ((?:\.\w+,?\s*)+):\s*\.(\w+)/) {
            let status = try #require(names[String(entry.2)])
            for name in entry.1.matches(of: /\.(\w+)/) {
                let code = try #require(Refusal.Code.allCases.first { "\($0)" == name.1 })
                #expect(described[code.rawValue] == status, "\(code.rawValue)")
                seen += 1
            }
        }
        #expect(seen == Refusal.Code.allCases.count)
    }

    @Test("have every reason, and no other")
    func reasons() throws {
        let enumerations = [
            ("IdentityTokenDefect", "TokenDefect.swift"), ("Reason", "PublicKeyDefect.swift"),
            ("PhoneNumberDefect", "PhoneNumberDefect.swift"), ("Reason", "RefusalReason.swift"),
        ]
        let sent = try enumerations.reduce(source.arguments("reason")) {
            $0.union(try source.values(of: $1.0, in: $1.1))
        }
        #expect(sent.count > 35)
        let rows = MarkdownDocument.rows(codes.section("Reasons"))
        let described = Set(rows.flatMap { MarkdownDocument.words($0[1]) })
        #expect(sent.subtracting(described).sorted() == [], "not described")
        #expect(described.subtracting(sent).sorted() == [], "described, and not there")
    }

    /// The rows of the table of states, and the enumeration of each.
    private static let states = [
        ("connection", "ConnectionState", "Connection.swift"), ("session, stored", "State", "Session.swift"),
        ("session, effective", "EffectiveState", "Session.swift"),
        ("phone verification", "State", "PhoneVerification.swift"),
        ("identity card (`status`)", "CardStatus", "CardStatus.swift"),
        ("presentation (`state`)", "State", "Presentation.swift"),
        ("identity card (`issuer_signature`)", "State", "IssuerSignature.swift"),
        ("authorization", "State", "MessagingPermission.swift"),
        ("authorization (`box`)", "Box", "MessagingPermission.swift"),
        ("stream of messages (`kind`)", "Kind", "MessageStream.swift"),
        ("stream of messages (`state`)", "State", "MessageStreamView.swift"),
        ("change to synchronize (`operation`)", "UserChange", "MessageStream.swift"),
        ("level (`assurance`)", "Assurance", "Assurance.swift"),
        ("user (`suspended`)", "Suspension", "AuthenticatedUser.swift"), ("ban", "State", "Ban.swift"),
        ("message of the outbox, provider events too", "State", "OutboxMessage.swift"),
        ("provider key (`added_by`)", "Origin", "Provider.swift"),
        ("stream of security events (`status`)", "Status", "EventStream.swift"),
    ]

    @Test("have every state, and no other", arguments: states)
    func everyState(row: String, enumeration: String, file: String) throws {
        let found = MarkdownDocument.rows(codes.section("States")).first { $0[0] == row }
        let described = Set(MarkdownDocument.words(try #require(found, "there is no row \(row)")[1]))
        let values = try source.values(of: enumeration, in: file)
        #expect(!values.isEmpty, "\(file) has no \(enumeration)")
        #expect(described == values)
    }

    @Test("name the state of every conflict")
    func conflicts() throws {
        let rows = MarkdownDocument.rows(codes.section("States of a conflict"))
        let described = Set(rows.flatMap { MarkdownDocument.words($0[1]) })
        let words = try source.arguments("state")
        #expect(words.count > 8)
        #expect(words.subtracting(described).sorted() == [], "not described")
        let known = try Self.states.reduce(words) { $0.union(try source.values(of: $1.1, in: $1.2)) }
        #expect(described.subtracting(known).sorted() == [], "described, and not there")
        // A state that is not described has no row of its own either.
        #expect(MarkdownDocument.rows(codes.section("States")).count == Self.states.count + 1)
    }

    @Test("have every type of push, and no other")
    func pushes() throws {
        let page = try MarkdownDocument(Self.folder + "/Pushes.md")
        let described = MarkdownDocument.rows(page.section("Types")).flatMap { MarkdownDocument.words($0[1]) }
        #expect(described.sorted() == PushType.allCases.map(\.rawValue).sorted())
    }

    @Test("have every check of a card under its kind")
    func checks() {
        let rows = MarkdownDocument.rows(codes.section("Checks of a card")).map { Set(MarkdownDocument.words($0[1])) }
        let names = CardCheck.Name.allCases
        let soft = Set(CardCheck.Name.reviewable.map(\.rawValue))
        let hard = Set(names.filter(\.isHard).map(\.rawValue))
        #expect(rows == [hard, soft, Set(names.map(\.rawValue)).subtracting(hard).subtracting(soft)])
    }

    /// A reader of the document reads each sentence that a user gets.
    @Test("have what each check of a card says if it fails, in the words of the sources")
    func sentencesOfChecks() throws {
        let names = Dictionary(uniqueKeysWithValues: CardCheck.Name.allCases.map { ("\($0)", $0.rawValue) })
        let files = try ["Sources/Cards/Evaluation", "Sources/Domain/Cards"].flatMap { try SourceFile.all(below: $0) }
        var said: Set<[String]> = []
        for file in files {
            var rule: Substring = ""
            let sentence = /\(name: \.(?<rule>\w+)\)|(?:\.(?<name>\w+), )?\.failed,\s*"(?<text>(?:[^"\\]|\\.)*)"/
            for match in file.text.matches(of: sentence) {
                if let begun = match.output.rule { rule = begun }
                guard let text = match.output.text else { continue }
                let name = String(match.output.name ?? rule)
                said.insert([try #require(names[name], "\(file.name): \(name)"), Self.withoutValues(text)])
            }
            for kind in file.text.matches(of: /case \.\w+: "((?:[^"\\]|\\.)*)"/)
            where file.name == "Contradiction.swift" {
                said.insert([CardCheck.Name.contradiction.rawValue, Self.withoutValues(kind.1)])
            }
        }
        let rows = MarkdownDocument.rows(codes.section("Sentences of failed checks")).map {
            MarkdownDocument.words($0[0]) + [$0[1]]
        }
        #expect(Set(said.map { $0[0] }) == Set(names.values), "a check says nothing that can be found")
        #expect(said.subtracting(rows).sorted { $0[1] < $1[1] } == [], "not described")
        #expect(Set(rows).subtracting(said).sorted { $0[1] < $1[1] } == [], "described, and not there")
    }

    /// A literal with … for what is put in.
    private static func withoutValues(_ literal: Substring) -> String {
        literal.replacing(/\\\((?:[^()]|\([^()]*\))*\)/, with: "…").description
    }

    @Test("show how each token is made, by steps that work on a running service as they stand there")
    func recipes() async throws {
        let service = try await RunningService()
        let documents = ["Recipes.md", "ProviderRecipes.md"].map {
            RunningService.root.appending(path: "\(Self.folder)/\($0)").path
        }
        try await expectScript(
            "Documents/protocol_recipes.py",
            service.clientArguments + [
                "--policies", service.path("Policies").path, "--texts", service.path("texts.jsonl").path, "--pid",
                String(service.processIdentifier), "--documents",
            ] + documents, seconds: 400)
    }
}
