import Fixtures
import Foundation

/// A session of PostgreSQL's own client, which does what it is told line by line, and ends with its last reference.
final class PostgreSQLPrompt {
    private let process: Process
    private let input: Pipe

    init(_ address: String) throws {
        // Writing to one that has ended is an error of the write, not the end of this process.
        signal(SIGPIPE, SIG_IGN)
        let program = URL(filePath: try PostgreSQLCluster.shared.program("psql"))
        (process, input) = try Command.starting {
            let (process, input) = (Process(), Pipe())
            process.executableURL = program
            process.arguments = ["-qX", address]
            process.standardInput = input
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            return (process, input)
        }
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
    }

    /// Gives it statements, and does not wait for what they do.
    func say(_ statements: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((statements + "\n").utf8))
    }
}
