import Fixtures
import Foundation
import Testing

@Suite("The quick starts", .serialized)
struct QuickStartTests {
    static let languages = ["python", "node", "go", "java", "ruby", "php"]

    /// Two in `make test`, all in `make soak`.
    private static let walked = Soak.isOn ? languages : ["python", "node"]

    @Test("let the same requests in and refuse the same in each language: forged, replayed, expired, revoked")
    func walk() async throws {
        let service = try await RunningService(arguments: ["--loopback-urls"])
        let output = try await expectScript(
            "QuickStarts/quickstarts.py",
            service.clientArguments + ["--keys", service.path("Keys").path] + (Soak.isOn ? ["--siege"] : [])
                + Self.walked.flatMap { ["--only", $0] },
            seconds: 400)
        for language in Self.walked { #expect(output.contains("\(language): ")) }
    }

    @Test("run on their own: a user signs in from a device and out again, and nothing is left", arguments: languages)
    func hello(language: String) async throws {
        try await expectScript(
            "QuickStarts/quickstart_hello.py",
            [
                language, "--root", RunningService.root.path, "--countersign",
                try RunningService.product("countersign"),
            ], seconds: 400)
    }

    @Test("are short: no file has more than 120 lines, or longer ones than 120 characters", arguments: languages)
    func lengths(language: String) throws {
        let folder = RunningService.root.appending(path: "Sources/QuickStarts/\(language)")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { !$0.hasDirectoryPath && $0.pathExtension != "md" }
        #expect(files.count >= 3)
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 121, "\(file.lastPathComponent)")
            #expect(lines.allSatisfy { $0.count <= 120 }, "\(file.lastPathComponent)")
        }
    }
}
