import Fixtures
import Foundation
import Testing

/// `README.md` shows figures of `Tests/Benchmarks/RESULTS.md`, which the benchmark alone writes.
@Suite("The figures in README.md")
struct MeasuredTableTests {
    private let results: MarkdownDocument
    private let shown: [String: String]
    private static let ending =
        "Ending many sessions by one change, of the command line, while 8 connections use theirs"

    init() throws {
        results = try MarkdownDocument("Tests/Benchmarks/RESULTS.md")
        let readme = try MarkdownDocument("README.md").text
        let start = try #require(readme.range(of: "\n| what | measured |"))
        shown = Dictionary(
            MarkdownDocument.rows(String(readme[start.lowerBound...])).map { ($0[0], $0[1]) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The cells of a row of the results, after its name.
    private func row(_ section: String, _ name: String) throws -> [String] {
        let rows = MarkdownDocument.rows(results.section(section))
        return try Array(#require(rows.first { $0[0].hasPrefix(name) }, "\(section): \(name)").dropFirst())
    }

    private func whole(_ figure: String) throws -> String { String(Int(try #require(Double(figure)).rounded())) }

    @Test("are those of the last run of the benchmark")
    func equal() throws {
        let check = try row("Sign-in", "GET /sessions/current")
        let signIn = try row("Sign-in", "POST /sessions RS256, a known user, durable")
        let ban = try row("A ban by another process", "1,000 connections with 5,000 sessions of a user:")
        let card = try row("Phone and card", "reading a barcode")
        let disabled = try #require(
            MarkdownDocument.rows(results.section(Self.ending)).first {
                $0[0].hasPrefix("PostgreSQL") && $0[2] == "provider disable"
            })
        let memory = try row("Memory and start", "1,000,000 live sessions")
        let expected = [
            "check of a session, CPU":
                "\(try whole(check[0])) µs, \(check[5]) times a bare request of the HTTP library",
            "sign-in of a known user, durable in SQLite, CPU": "\(try whole(signIn[0])) µs with RS256",
            "a ban of a user with 1,000 connections and 5,000 sessions": "all closed after \(ban[2]) ms",
            "disabling a provider with a million sessions, on PostgreSQL":
                "the last one accepted \(try #require(disabled.dropFirst(4).first)) ms later",
            "reading a card's barcode": "\(try whole(card[0])) µs",
            "one million live sessions in memory": "\(try #require(memory[0].split(separator: " ").first)) MiB",
        ]
        #expect(shown == expected)
    }

    @Test("and its chart are drawn from the same results")
    func chart() async throws {
        let script = RunningService.root.appending(path: "Tests/Benchmarks/chart.py").path
        let done = try await Command.run("python3", [script, "--check"])
        #expect(done.status == 0, "\(done.errors)")
    }
}
