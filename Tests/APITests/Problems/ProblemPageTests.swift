import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Testing

@testable import API

@Suite("The page of a problem")
struct ProblemPageTests {
    /// The rows of the table in `Codes.md`: code, status, when.
    private static func rows() throws -> [[String]] {
        let file = RunningService.root.appending(path: "Sources/API/API.docc/Codes.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let section = text.split(separator: "## Codes\n", maxSplits: 1).last.map(String.init) ?? ""
        let table = section.split(separator: "\n").drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.dropFirst(2)
        return table.map { row in
            row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
    }

    @Test("is there for every code that an answer may have, and no other, in the words of the page of codes")
    func everyCode() throws {
        let defects: [HTTPDefect] = [
            .malformed(""), .methodNotAllowed([]), .targetTooLong, .fieldsTooLarge, .unknownTransferCoding,
        ]
        let sent = Set(Refusal.Code.allCases.map(\.rawValue) + defects.map(\.code) + ["internal_error"])
        let kinds = ProblemKind.all
        #expect(Set(kinds.map(\.code)) == sent && kinds.count == sent.count)
        let rows = try Self.rows()
        #expect(rows.count == kinds.count)
        for row in rows {
            let code = String(row[0].dropFirst().dropLast())
            let kind = try #require(ProblemKind.of(code), "\(code)")
            #expect(row[2] == kind.cause, "\(code)")
            #expect(row[1].prefix { $0.isNumber } == "\(kind.status.code)", "\(code)")
            #expect(!kind.mend.isEmpty && kind.mend.hasSuffix("."))
            #expect([kind.cause, kind.mend].allSatisfy { $0.filter { $0 == "`" }.count.isMultiple(of: 2) }, "\(code)")
        }
        #expect(ProblemKind.of("client_closed_request") == nil && ProblemKind.of("") == nil)
    }

    @Test("has an example with every member that Codes.md names for the code")
    func examples() throws {
        for row in try Self.rows() {
            let code = String(row[0].dropFirst().dropLast())
            let members = row[3].matches(of: /`([a-z_]+)`/).map { String($0.output.1) }
            let example = try #require(ProblemKind.of(code)).example.members(type: "t", requestID: "r")
            let others: Set = ["nonce", "nonce_expires_at", "err", "description", "reason"]
            for member in members where !others.contains(member) {
                #expect(example[member] != nil, "\(code) lacks \(member)")
            }
        }
    }

    @Test("has a row for each reason, in the words of Codes.md, whose example is a call of the service")
    func reasons() async throws {
        let file = RunningService.root.appending(path: "Sources/API/API.docc/Codes.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let described = text.matches(of: /\n\| `([a-z_]+)` \| `([a-z_]+)` \| ([^|\n]+) \|(?=\n)/).map {
            [String($0.1), String($0.2), String($0.3)]
        }
        #expect(
            Set(described) == Set(ProblemReason.all.map { [$0.code.rawValue, $0.reason.rawValue, $0.cause] }))
        #expect(described.count == ProblemReason.all.count)
        // `nodes_live` is a reason of a command.
        #expect(Set(ProblemReason.all.map(\.reason)) == Set(Refusal.Reason.allCases).subtracting([.nodesLive]))
        try await RouterBench.run { bench in
            let routes = Set(bench.routes.values.flatMap(\.self))
            for row in ProblemReason.all {
                let lines = row.example.split(separator: "\n").map(String.init)
                #expect(lines.first.map(routes.contains) == true, "\(row.example)")
                for line in lines {
                    guard let start = line.firstIndex(of: "{"), line.hasSuffix("}"), !line.contains(" /") else {
                        continue
                    }
                    #expect(throws: Never.self, "\(line)") { try StrictJSON.parse(line[start...].utf8) }
                }
                #expect(row.mend.hasSuffix(".") && !row.cause.hasSuffix("."), "\(row.mend)")
                #expect([row.cause, row.mend].allSatisfy { $0.filter { $0 == "`" }.count.isMultiple(of: 2) })
            }
        }
    }

    @Test("is in the list of all problems, with each reason as a link to its row")
    func index() async throws {
        try await RouterBench.run { bench in
            let html: HTTPFields = [.accept: "text/html"]
            let reply = try await bench.send(.public, "GET /problems", headers: html)
            let list = String(decoding: reply.body, as: UTF8.self)
            let links = Set(
                list.matches(of: /href="https:\/\/public\.example\/problems\/([^"]+)"/).map { String($0.1) })
            let places = ProblemReason.all.map { "\($0.code.rawValue)#\($0.reason.rawValue)" }
            #expect(links == Set(ProblemKind.all.map(\.code) + places))
            for kind in ProblemKind.all {
                let page = try await bench.send(.public, "GET /problems/\(kind.code)", headers: html)
                let anchors = String(decoding: page.body, as: UTF8.self).matches(of: /<h3 id="([^"]+)">/).map {
                    String($0.1)
                }
                #expect(anchors == kind.reasons.map(\.reason.rawValue), "\(kind.code)")
            }
        }
    }

    @Test("is HTML for who prefers that to JSON, without a script, a style or anything to load")
    func html() async throws {
        try await RouterBench.run { bench in
            for kind in ProblemKind.all {
                let reply = try await bench.send(
                    .public, "GET /problems/\(kind.code)",
                    headers: [.accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"])
                let page = String(decoding: reply.body, as: UTF8.self)
                #expect(reply.status == 200 && reply.headers[.contentType] == "text/html; charset=utf-8")
                #expect(reply.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'; ") == true)
                #expect(reply.headers[.xContentTypeOptions] == "nosniff" && reply.headers[.vary] == "Accept")
                #expect(page.contains("<h1>\(kind.code)</h1>") && page.contains("https://public.example/problems/"))
                for word in ["<script", "<style", "<link", "<img", "javascript:", "http-equiv", "`"] {
                    #expect(!page.lowercased().contains(word), "\(kind.code): \(word)")
                }
            }
        }
    }

    @Test("takes the weights of Accept as they are meant")
    func preference() {
        let cases: [(String?, Bool)] = [
            (nil, false), ("*/*", false), ("text/html", true), ("application/json", false), ("text/*", true),
            ("text/html, application/json", false), ("text/html;q=0.5, application/json;q=0.4", true),
            ("text/html;q=0.5, application/json", false), ("TEXT/HTML ; q=1, */*;q=0.1", true), ("image/png", false),
            ("text/html;q=0, */*", false), ("text/html;q=x", false), (",;,;q=,", false), ("", false),
            ("application/problem+json, text/html;q=0.9", false),
        ]
        for (accept, isHTML) in cases {
            var fields = HTTPFields()
            fields[.accept] = accept
            #expect(HTMLPage.wantsHTML(fields) == isHTML, "\(accept ?? "none")")
        }
    }

    @Test("escapes whatever HTML would read")
    func escaping() {
        #expect(HTMLPage.escaped("<a href=\"x\">'&") == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;")
        #expect(HTMLPage.marked("a `<b>` & c") == "a <code>&lt;b&gt;</code> &amp; c")
        // A mark that joins a sign makes one character with it in Swift, and two for a browser.
        for sign in ["<", "&", "\"", "'", ">"] {
            #expect(
                !HTMLPage.escaped(sign + "\u{301}").unicodeScalars.contains(sign.unicodeScalars.first ?? "x")
                    || sign == "&")
        }
        #expect(HTMLPage.escaped("<\u{301}&\u{301}") == "&lt;\u{301}&amp;\u{301}")
    }
}
