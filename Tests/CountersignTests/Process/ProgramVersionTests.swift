import Fixtures
import Foundation
import Testing

/// The commit is found without a network: by the Makefile, which hands it to the compiler.
@Suite("The version of the program")
struct ProgramVersionTests {
    @Test("names the commit that was built, or says that it is unknown")
    func commit() async throws {
        let printed = try await Command.run(try RunningService.product("countersign"), ["--version"])
        let named = ProcessInfo.processInfo.environment["COUNTERSIGN_COMMIT"] ?? ""
        #expect(printed.output == "1.0.0 (\(named.isEmpty ? "unknown commit" : named))\n")
    }

    @Test("has a commit in a repository, which says if files were changed, and none in an archive")
    func places() async throws {
        let place = try ScratchDirectory()
        let file = RunningService.root.appending(path: "Makefile")
        try place.write(try String(contentsOf: file, encoding: .utf8), "Makefile")
        let folder = place.path
        func named() async throws -> String {
            let rule = "--eval=named: ; @echo \"[$(COUNTERSIGN_COMMIT)]\""
            let result = try await Command.run("make", ["-s", "--no-print-directory", "-C", folder, rule, "named"])
            #expect(result.status == 0, "\(result.errors)")
            return result.output.split(separator: "\n").last.map(String.init) ?? ""
        }
        #expect(try await named() == "[]", "an archive")
        func git(_ arguments: String...) async throws {
            let who = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
            let result = try await Command.run("git", ["-C", folder] + who + arguments)
            #expect(result.status == 0, "\(result.errors)")
        }
        try await git("init", "-q")
        #expect(try await named() == "[]", "no commit yet")
        try await git("add", "Makefile")
        try await git("commit", "-q", "-m", "first")
        #expect(try await named().wholeMatch(of: /\[[0-9a-f]{12}\]/) != nil)
        try place.write("all:\n\t@true\nexport COUNTERSIGN_COMMIT := unset\n", "other.mk")
        #expect(try await named().wholeMatch(of: /\[[0-9a-f]{12}\]/) != nil, "a file beside them is no change")
        try place.write(try String(contentsOf: file, encoding: .utf8) + "# changed\n", "Makefile")
        #expect(try await named().wholeMatch(of: /\[[0-9a-f]{12}-changed\]/) != nil)
    }
}
