import Fixtures
import Foundation
import Testing

/// A stand-in for the service that records requests, without what differs by chance.
struct Recorder {
    let publicURL, clientURL: URL
    let authorityFile, authority: String

    private struct Ready: Decodable {
        let `public`, client, authority: String
    }

    /// The requests that a body sends, one JSON text each.
    static func record(_ body: (Recorder) async throws -> Void) async throws -> [String] {
        let place = try ScratchDirectory()
        let script = RunningService.root.appending(path: "Tests/Interop/SDK/recorder.py").path
        let process = Process()
        process.executableURL = URL(
            filePath: try #require(ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"]))
        process.arguments = [script, place.path]
        let (input, output) = (Pipe(), try place.write(Data(), "ready"))
        process.standardInput = input
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        try Command.starting { try process.run() }
        defer {
            // It ends with its input.
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
        var text = ""
        for _ in 0..<2400 {
            text = try place.text("ready")
            if text.hasSuffix("\n") { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        let ready = try JSONDecoder().decode(Ready.self, from: Data(text.utf8))
        let recorder = Recorder(
            publicURL: try #require(URL(string: ready.public)), clientURL: try #require(URL(string: ready.client)),
            authorityFile: ready.authority, authority: try String(contentsOfFile: ready.authority, encoding: .utf8))
        try await body(recorder)
        return try place.text("requests.jsonl").split(separator: "\n").map(String.init)
    }
}
