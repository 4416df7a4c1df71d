import Domain
import Encoding
import Foundation

/// The built binary, running on free loopback ports with keys, policies and a store of its own.
package final class RunningService {
    /// Its directory: `Keys`, `Policies`, `store.db`, `log`, the provider's key and registration.
    package let directory: URL
    /// `https://127.0.0.1:…`.
    package private(set) var publicURL = ""
    package private(set) var clientURL = ""
    package private(set) var opsURL = ""
    package let store: String
    private let environment: [String: String]
    private let arguments: [String]
    private var process: Process?
    /// The running process; 0 where there is none.
    package var processIdentifier: Int32 { process?.processIdentifier ?? 0 }

    /// What the service did not do in time.
    package struct NotReady: Error, CustomStringConvertible {
        package let description: String
    }

    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// What the service sets for itself where it is not set, and starts again for. `CrashReportTests` lets it.
    private static let backtrace = "enable=yes,color=no,interactive=no,registers=none,format=text"

    /// A built product, beside the bundle of the running tests.
    package static func product(_ name: String) throws -> String {
        var folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        for _ in 0..<6 {
            let candidate = folder.appending(path: name)
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate.path }
            folder = folder.deletingLastPathComponent()
        }
        let usual = root.appending(path: ".build/debug/\(name)")
        guard FileManager.default.isExecutableFile(atPath: usual.path) else {
            throw NotReady(description: "\(name) is not built")
        }
        return usual.path
    }

    /// Makes keys, a store and a provider, and starts the service.
    ///
    /// - Parameters:
    ///   - policies: files that replace the repository's, by name.
    ///   - environment: variables of the service and its admin commands.
    ///   - arguments: what `serve` takes besides, in place of free loopback ports and `--limits off`.
    ///   - store: the address of an empty store in place of a file of its own.
    ///   - prepare: puts files into the service's directory before keys are made.
    package init(
        policies: [String: String] = [:], environment: [String: String] = [:], arguments: [String] = [],
        store: String? = nil, prepare: ((URL) async throws -> Void)? = nil
    ) async throws {
        self.environment = environment
        self.arguments = arguments
        directory = FileManager.default.temporaryDirectory.appending(path: "countersign-\(UUID().uuidString)")
        self.store = store ?? "sqlite:\(directory.appending(path: "store.db").path)"
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: Self.root.appending(path: "Policies"), to: directory.appending(path: "Policies"))
        for (name, text) in policies {
            try text.write(to: path("Policies/\(name)"), atomically: true, encoding: .utf8)
        }
        let isDevelopment = arguments.contains("--development")
        if let prepare {
            try await prepare(directory)
            try await installation.make(development: isDevelopment)
        } else if store != nil {
            try await Installations.shared.copy(development: isDevelopment, to: directory, withStore: false)
            try await installation.fillStore(development: isDevelopment)
        } else {
            try await Installations.shared.copy(development: isDevelopment, to: directory)
        }
        try start()
    }

    /// Starts another node with the keys, policies and provider of one that runs, or ran, on its store or on another.
    ///
    /// - Parameters:
    ///   - store: another store than the other's.
    ///   - arguments: what `serve` takes besides those of the other.
    ///   - ports: `--public` and `--client` in place of the other's arguments.
    ///   - prepare: changes keys or policies before the start.
    package init(
        besides other: RunningService, store: String? = nil, arguments: [String] = [], ports: [String]? = nil,
        prepare: (URL) throws -> Void = { _ in }
    ) throws {
        (environment, self.arguments) = (other.environment, (ports ?? other.arguments) + arguments)
        self.store = store ?? other.store
        directory = FileManager.default.temporaryDirectory.appending(path: "countersign-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for name in ["Keys", "Policies", "provider.key", "provider.pem", "provider.json"] {
            try FileManager.default.copyItem(at: other.path(name), to: path(name))
        }
        try prepare(directory)
        try start()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: directory)
    }

    /// A file of the service.
    package func path(_ name: String) -> URL { directory.appending(path: name) }

    /// The log's lines so far that hold a text.
    package func logLines(_ text: String) throws -> [String] {
        try String(contentsOf: path("log"), encoding: .utf8).split(separator: "\n").map(String.init)
            .filter { $0.contains(text) }
    }

    /// What the Python clients need to reach it, as its provider.
    package var clientArguments: [String] {
        [
            "--public", publicURL, "--client", clientURL, "--ops", opsURL, "--ca", path("Keys/ca.pem").path,
            "--provider", path("provider.json").path, "--provider-key", path("provider.key").path,
        ]
    }

    private var installation: Installation {
        Installation(directory: directory, store: store, environment: environment)
    }

    /// Runs an admin command, on the service's keys and store unless it names others, as another process.
    package func countersign(
        _ arguments: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await installation.countersign(arguments)
    }

    /// Starts the service on the same files; the ports are new ones.
    package func start() throws {
        let ready = path("ready")
        _ = FileManager.default.createFile(atPath: ready.path, contents: nil)
        if !FileManager.default.fileExists(atPath: path("log").path) {
            _ = FileManager.default.createFile(atPath: path("log").path, contents: nil)
        }
        let log = try FileHandle(forWritingTo: path("log"))
        try log.seekToEnd()
        let process = Process()
        process.executableURL = URL(filePath: try Self.product("countersign"))
        process.arguments =
            ["serve"] + installation.places(besides: arguments) + arguments
            + [
                ("--public", "127.0.0.1:0"), ("--client", "127.0.0.1:0"), ("--ops", "127.0.0.1:0"), ("--limits", "off"),
            ].flatMap { arguments.contains($0.0) ? [] : [$0.0, $0.1] }
        process.environment = ProcessInfo.processInfo.environment
            .merging(["COUNTERSIGN_TEXTS": path("texts.jsonl").path, "SWIFT_BACKTRACE": Self.backtrace]) { $1 }
            .merging(environment) { $1 }
        process.standardOutput = try FileHandle(forWritingTo: ready)
        process.standardError = log
        try Command.starting { try process.run() }
        self.process = process
        for _ in 0..<2400 {
            if let line = try? Data(contentsOf: ready), line.last == UInt8(ascii: "\n"),
                let value = try? StrictJSON.parse(line), let open = value["public"]?.text,
                let client = value["client"]?.text, let ops = value["ops"]?.text
            {
                (publicURL, clientURL, opsURL) = ("https://\(open)", "https://\(client)", "http://\(ops)")
                return
            }
            guard process.isRunning else { break }
            Thread.sleep(forTimeInterval: 0.05)
        }
        throw NotReady(description: (try? String(contentsOf: path("log"), encoding: .utf8)) ?? "no log")
    }

    /// Asks the service to stop and waits; its exit status, or `nil` where it had to be killed.
    package func stop() -> Int32? {
        guard let process else { return nil }
        process.terminate()
        for _ in 0..<2400 where process.isRunning { Thread.sleep(forTimeInterval: 0.05) }
        guard !process.isRunning else {
            kill()
            return nil
        }
        self.process = nil
        return process.terminationStatus
    }

    /// Waits for an end that somebody else asked for; the exit status, or `nil` where it did not end in time.
    package func ended(within seconds: Double) -> Int32? {
        guard let process else { return nil }
        for _ in 0..<Int(seconds * 20) where process.isRunning { Thread.sleep(forTimeInterval: 0.05) }
        guard !process.isRunning else { return nil }
        self.process = nil
        return process.terminationReason == .exit ? process.terminationStatus : nil
    }

    /// Ends the service as a power cut would.
    package func kill() {
        guard let process, process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
    }
}
