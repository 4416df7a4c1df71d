import Fixtures
import Foundation

/// A script of `Tests/Interop` that runs beside a test until its last reference goes.
final class PythonProcess {
    /// Why the script does not run.
    struct NotReady: Error {
        let script: String
    }

    /// The first line that it wrote: it is ready from then on.
    let firstLine: String
    private let process: Process

    /// Starts a script and waits for its first line.
    init(_ script: String, _ arguments: [String]) async throws {
        let python = URL(fileURLWithPath: try Command.python("python"))
        let output: Pipe
        (process, output) = try Command.starting {
            let (process, output) = (Process(), Pipe())
            process.executableURL = python
            process.arguments = [Self.interop + script] + arguments
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            return (process, output)
        }
        try output.fileHandleForWriting.close()
        let reader = output.fileHandleForReading
        let line = await withCheckedContinuation { continuation in
            // A script that ends without a word ends the wait too.
            DispatchQueue.global().async {
                var line = Data()
                while let byte = try? reader.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") { line.append(byte) }
                continuation.resume(returning: line)
            }
        }
        guard !line.isEmpty else { throw NotReady(script: script) }
        firstLine = String(decoding: line, as: UTF8.self)
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
    }

    /// Where the scripts are.
    static let interop =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Interop/").path + "/"
}
