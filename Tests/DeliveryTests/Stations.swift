import AsyncHTTPClient
import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOHTTP1
import PhoneNumbers
import Synchronization

@testable import Delivery

/// A carrier's service as a Python program stands in for it, on free loopback ports. It ends with its standard input,
/// which this process holds open, so it never outlives the tests for long. At their exit it is killed: those that all tests
/// share are never released.
final class Station: Sendable {
    /// The line of JSON by which it said that it is ready.
    let ready: JSONValue
    private let process: Process
    private let input: Pipe
    private let scratch: ScratchDirectory

    struct NotReady: Error, CustomStringConvertible {
        let description: String
    }

    init(_ script: String) async throws {
        scratch = try ScratchDirectory()
        let python = URL(filePath: try Command.python("python"))
        let (output, errors) = (try scratch.write("", "out"), try scratch.write("", "err"))
        (process, input) = try Command.starting {
            let (process, input) = (Process(), Pipe())
            process.executableURL = python
            process.arguments = [interop(script)]
            process.standardInput = input
            process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
            process.standardError = try FileHandle(forWritingTo: URL(filePath: errors))
            try process.run()
            Self.started.withLock { $0.append(process) }
            return (process, input)
        }
        _ = Self.endAtExit
        for _ in 0..<2400 where process.isRunning {
            let text = try scratch.text("out")
            if text.hasSuffix("\n"), let value = try? StrictJSON.parse(text.utf8) {
                ready = value
                return
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        process.terminate()
        throw NotReady(description: "\(script): \(try scratch.text("err"))")
    }

    deinit {
        try? input.fileHandleForWriting.close()
    }

    private static let started = Mutex<[Process]>([])
    private static let endAtExit: Void = {
        atexit {
            for process in Station.started.withLock({ $0 }) where process.isRunning {
                kill(process.processIdentifier, SIGKILL)
            }
        }
    }()

    /// `http://127.0.0.1:…`.
    func url(_ index: Int = 0, scheme: String = "http", host: String = "127.0.0.1") -> String {
        guard case .array(let ports)? = ready["ports"], case .integer(let port) = ports[index] else { return "" }
        return "\(scheme)://\(host):\(port)"
    }

    func text(_ name: String) -> String { ready[name]?.text ?? "" }

    func texts(_ name: String) -> [String] {
        guard case .array(let values)? = ready[name] else { return [] }
        return values.compactMap(\.text)
    }

    /// What it has seen, or another document of its.
    func document(_ path: String = "/seen") async throws -> Data {
        let answer = try await Stations.http.execute(HTTPClientRequest(url: url() + path), timeout: .seconds(30))
        return Data(try await answer.body.collect(upTo: 10_000_000).readableBytesView)
    }

    /// What it has seen, one text of JSON an entry.
    func seen() async throws -> [String] {
        guard let list = try JSONSerialization.jsonObject(with: try await document()) as? [Any] else { return [] }
        return try list.map {
            String(
                decoding: try JSONSerialization.data(
                    withJSONObject: $0, options: [.sortedKeys, .withoutEscapingSlashes]),
                as: UTF8.self)
        }
    }
}

/// Started once for all tests of the bundle, each when it is first needed.
enum Stations {
    static let sns = Task { try await Station("Phone/sns_service.py") }
    static let twilio = Task { try await Station("Phone/twilio_service.py") }
    static let webhook = Task { try await Station("Providers/webhook_receiver.py") }
    static let issuer = Task { try await Station("Providers/openid_discovery.py") }
    /// What the tests ask them with, as the service does.
    static let http = HTTPClient(configuration: .delivery(DeliveryPolicy()))
}

extension Sender {
    /// One attempt at a message of its own.
    func send(_ message: Message) async -> DeliveryOutcome { await send(message, id: UUID()) }
}

/// The path of a script of `Tests/Interop`.
func interop(_ script: String) -> String {
    RunningService.root.appending(path: "Tests/Interop/\(script)").path(percentEncoded: false)
}

/// Runs a script of `Tests/Interop` over lines.
func judge(_ script: String, _ lines: [String]) async throws -> [Substring] {
    let result = try await Command.run(
        try Command.python("python"), [interop(script)], input: Data(lines.joined(separator: "\n").utf8), seconds: 400)
    guard result.status == 0 else { throw Station.NotReady(description: result.errors) }
    return result.output.split(separator: "\n")
}

/// A number that ends in four digits of the test's choice.
func number(_ end: String) throws -> PhoneNumber { try PhoneNumber(reading: "+1415555" + end) }

/// Senders of a policy, with secrets by the name of their file.
func senders(_ policy: DeliveryPolicy, secrets: [String: String] = [:]) throws -> Failover {
    try SenderFactory(
        policy,
        secret: { name in
            guard let text = secrets[name] else { throw CocoaError(.fileReadNoSuchFile) }
            return text
        },
        environment: [:], texts: "", isLoopbackOnly: true, http: Stations.http, now: { Date() }
    ).make(policy.senders)
}

/// The same for the same seed (Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// So many of some characters.
    mutating func text(_ alphabet: String, _ count: ClosedRange<Int>) -> String {
        let characters = Array(alphabet.unicodeScalars)
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: count, using: &self) {
            text.append(characters[Int.random(in: 0..<characters.count, using: &self)])
        }
        return String(text)
    }
}
