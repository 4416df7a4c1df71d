import Crypto
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// What one refusal of each kind costs on each listener, beside a success there. Whoever is refused can ask again at
/// once: a refusal should cost no more than a success.
struct Refusals {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private let width = 16
    private var perConnection: Int { quick ? 20 : 400 }

    /// No limit is met but those of a minute that are measured. A session belongs to one device, so all connections
    /// have the same certificate.
    private static let wide = policy(perMinute: 1_000_000)
    private static let narrow = policy(perMinute: 1)
    private static let console = ["--console", "127.0.0.1:0"]

    private static func policy(perMinute: Int) -> String {
        ["reads", "writes", "heavy"].map { "\($0)_per_minute: \(perMinute)\n" }.joined()
            + "connections_per_certificate: 64\n"
    }

    /// Where requests go.
    private struct Listener {
        let name: String
        let port: Int
        /// In turn for each connection; `nil` for none.
        let tls: [NIOSSLContext?]
        let process: MeasuredProcess
    }

    /// Requests of one kind, which all get the same status.
    private struct Case {
        let name: String
        let status: Int
        let request: ByteBuffer
        /// The answer ends the connection: each request has one of its own, and the handshake is in the figure.
        var closes = false
    }

    func run() async throws {
        let service = try await RunningService(
            policies: ["requests.yaml": Self.wide], arguments: ["--limits", "on"])
        let visitor = try await ConsoleVisitor("refused", on: service)
        // A console needs the authority of administrators, which came with the first of them.
        let consoles = try RunningService(besides: service, arguments: Self.console)
        let narrow = try RunningService(
            besides: service, arguments: ["--allow-other-policies"] + Self.console
        ) { directory in
            try Self.narrow.write(
                to: directory.appending(path: "Policies/requests.yaml"), atomically: true, encoding: .utf8)
        }
        defer { for node in [service, consoles, narrow] { _ = node.stop() } }
        report.section(
            "What a refusal costs: \(width) connections, rate limits on",
            ["listener", "request", "status", "CPU µs", "÷ success", "aim"])
        let devices = try await Fleet.certify(1, on: service, group: group)
        let provider = try await BenchmarkProvider(service)
        let token = try await session(devices, service, provider)
        let anybody = try Fleet.context(authority: service.path("Keys/ca.pem").path)

        func client(_ node: RunningService) -> Listener {
            listener("client", node, Fleet.port(node.clientURL), devices.map(\.tls))
        }
        func open(_ node: RunningService) -> Listener {
            listener("public", node, Fleet.port(node.publicURL), [anybody])
        }
        let check = try await measure(Self.clientCases(token), at: client(service), beside: [:])
        _ = try await measure(
            [Case(name: "GET /sessions beyond the calls of a minute", status: 429, request: Self.get("/sessions"))],
            at: client(narrow), beside: check)
        let certify = try Self.certification()
        let introspection = try await measure(
            try Self.publicCases(token, provider), at: open(service), beside: [:])
        for (name, node) in [("certificates of an hour", service), ("calls of a minute", narrow)] {
            try await exhaust(certify, on: open(node))
            let refused = Case(name: "POST /certificates beyond the \(name)", status: 429, request: certify)
            _ = try await measure([refused], at: open(node), beside: introspection)
        }
        func console(_ node: RunningService) throws -> Listener {
            listener("console", node, try ConsoleVisitor.port(of: node), [visitor.tls])
        }
        let page = try await measure(Self.consoleCases(), at: try console(consoles), beside: [:])
        _ = try await measure(
            [
                Case(
                    name: "GET /nodes beyond the calls of a minute", status: 429,
                    request: ConsoleVisitor.request("/nodes"))
            ], at: try console(narrow), beside: page)
        _ = try await measure(
            Self.opsCases(), at: listener("ops", service, Fleet.port(service.opsURL), [nil]), beside: [:])
    }

    private func listener(_ name: String, _ node: RunningService, _ port: Int, _ tls: [NIOSSLContext?]) -> Listener {
        Listener(name: name, port: port, tls: tls, process: MeasuredProcess(id: node.processIdentifier))
    }

    // MARK: Requests

    private static func get(_ path: String, _ headers: [String] = []) -> ByteBuffer {
        RequestBytes.make("GET", path, headers: headers)
    }

    /// The head of a request whose body is longer than the service reads, and the body's first byte.
    private static func announcing(at path: String) -> ByteBuffer {
        ByteBuffer(
            string: "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: 70000\r\n\r\n{")
    }

    // The first case with a kept connection and the first with one of its own are the successes.

    private static func clientCases(_ token: String) -> [Case] {
        let known = "Authorization: Layer session-token=\"\(token)\""
        let unknown = "Authorization: Layer session-token=\"\(String(repeating: "a", count: token.utf8.count))\""
        return [
            Case(name: "GET /sessions/current", status: 200, request: get("/sessions/current", [known])),
            Case(
                name: "POST /sessions, broken JSON", status: 400,
                request: RequestBytes.make("POST", "/sessions", body: "[")),
            Case(name: "GET /sessions/current, no token", status: 401, request: get("/sessions/current")),
            Case(
                name: "GET /sessions/current, an unknown token", status: 401,
                request: get("/sessions/current", [unknown])),
            Case(name: "GET /nothing", status: 404, request: get("/nothing")),
            Case(
                name: "GET /sessions/current, then closed", status: 200,
                request: get("/sessions/current", [known, "Connection: close"]), closes: true),
            Case(
                name: "POST /sessions, 70,000 bytes announced", status: 413, request: announcing(at: "/sessions"),
                closes: true),
        ]
    }

    private static func publicCases(_ token: String, _ provider: BenchmarkProvider) throws -> [Case] {
        let bearer = try provider.rs256.signer.providerToken(
            provider: provider.id, kid: provider.rs256.id, realm: "localhost", now: Date())
        func introspect(_ headers: [String], _ body: String) -> ByteBuffer {
            RequestBytes.make(
                "POST", "/introspect", headers: headers, body: body, type: "application/x-www-form-urlencoded")
        }
        let proof = "Authorization: Bearer \(bearer)"
        return [
            Case(name: "POST /introspect", status: 200, request: introspect([proof], "token=\(token)")),
            Case(
                name: "POST /introspect without a token", status: 400, request: introspect([proof], "other=1")),
            Case(
                name: "POST /introspect, no bearer token", status: 401, request: introspect([], "token=\(token)")),
            Case(
                name: "POST /introspect, a bearer token that nobody signed", status: 401,
                request: introspect([proof.dropLast(8) + "AAAAAAAA"], "token=\(token)")),
            Case(name: "GET /nothing", status: 404, request: get("/nothing")),
            Case(
                name: "POST /introspect, then closed", status: 200,
                request: introspect([proof, "Connection: close"], "token=\(token)"), closes: true),
            Case(
                name: "POST /certificates, 70,000 bytes announced", status: 413,
                request: announcing(at: "/certificates"), closes: true),
        ]
    }

    /// It takes no token and has no limits.
    private static func opsCases() -> [Case] {
        [
            Case(name: "GET /livez", status: 200, request: get("/livez")),
            Case(name: "GET /nothing", status: 404, request: get("/nothing")),
            Case(
                name: "GET /livez, then closed", status: 200, request: get("/livez", ["Connection: close"]),
                closes: true),
            Case(
                name: "GET /livez without Host", status: 400,
                request: ByteBuffer(string: "GET /livez HTTP/1.1\r\n\r\n"),
                closes: true),
            Case(
                name: "POST /livez, 70,000 bytes announced", status: 413, request: announcing(at: "/livez"),
                closes: true),
        ]
    }

    /// All of one administrator, whose pages have one turn after the other.
    private static func consoleCases() -> [Case] {
        [
            Case(name: "GET /nodes", status: 200, request: ConsoleVisitor.request("/nodes")),
            Case(name: "GET /nodes from another site", status: 403, request: get("/nodes")),
            Case(name: "GET /nothing", status: 404, request: ConsoleVisitor.request("/nothing")),
            Case(
                name: "GET /nodes, then closed", status: 200,
                request: get("/nodes", ["Sec-Fetch-Site: none", "Connection: close"]), closes: true),
            // An invalid target ends the connection.
            Case(
                name: "GET /nodes, a target that is not UTF-8", status: 400,
                request: ConsoleVisitor.request("/nodes?after=%FF"), closes: true),
            Case(
                name: "POST /audit/verify, 70,000 bytes announced", status: 413,
                request: announcing(at: "/audit/verify"), closes: true),
        ]
    }

    private static func certification() throws -> ByteBuffer {
        let request = try TestAuthority.certificationRequest(commonName: UUID().uuidString.lowercased())
        let body = JSONValue.object([JSONMember(name: "csr", value: .string(request))]).jsonText
        return RequestBytes.make("POST", "/certificates", body: body)
    }

    /// The token of a session whose check memory answers.
    private func session(
        _ devices: [LoadDevice], _ service: RunningService, _ provider: BenchmarkProvider
    ) async throws -> String {
        let fleet = try await Fleet.connect(
            Array(devices.prefix(1)), count: 1, port: Fleet.port(service.clientURL), group: group)
        let answers = try await fleet.run(try await fleet.openings(1, by: provider.es256, of: provider, "refused"))
        await fleet.close()
        guard let answer = answers.joined().first else { throw BenchmarkError("no session") }
        return try answer.text("session_token")
    }

    /// Sends a request until the address may send no more.
    private func exhaust(_ request: ByteBuffer, on listener: Listener) async throws {
        for _ in 0..<100 {
            // The answer to a granted one ends its connection.
            let fleet = try await connect(1, to: listener)
            let answers = try await fleet.run([[request]])
            await fleet.close()
            if answers.joined().contains(where: { $0.status == 429 }) { return }
        }
        throw BenchmarkError("no limit was met")
    }

    // MARK: Measuring

    /// - Parameter successes: microseconds of a success, on a kept connection (`false`) and on one of its own; those
    ///   that are missing are the first cases of their kind.
    /// - Returns: the same with those.
    private func measure(
        _ cases: [Case], at listener: Listener, beside successes: [Bool: Double]
    ) async throws -> [Bool: Double] {
        var successes = successes
        for one in cases {
            // Who must be beyond the limit of a minute is so now.
            if one.status == 429 { _ = try await answers(to: one, times: 1, at: listener) }
            let count = one.closes ? perConnection / 20 : perConnection
            let before = listener.process.processorSeconds
            let answers = try await answers(to: one, times: count, at: listener)
            let used = (listener.process.processorSeconds - before) * 1e6 / Double(max(1, answers.count))
            if let wrong = answers.first(where: { $0.status != one.status }) {
                throw BenchmarkError(
                    "\(one.name): \(wrong.status) instead of \(one.status): \(String(buffer: wrong.body))")
            }
            let success = successes[one.closes] ?? used
            successes[one.closes] = success
            report.row(
                listener.name, one.name, "\(one.status)", used.places(1), (used / success).places(2),
                one.status < 400 ? "" : "≤ 1")
        }
        return successes
    }

    private func answers(to one: Case, times count: Int, at listener: Listener) async throws -> [Answer] {
        let (rounds, each) = one.closes ? (count, 1) : (1, count)
        var all: [Answer] = []
        for _ in 0..<rounds {
            let fleet = try await connect(width, to: listener)
            let list = [ByteBuffer](repeating: one.request, count: each)
            all += try await fleet.run([[ByteBuffer]](repeating: list, count: width)).joined()
            await fleet.close()
        }
        return all
    }

    private func connect(_ count: Int, to listener: Listener) async throws -> Fleet {
        var connections: [LoadConnection] = []
        for index in 0..<count {
            connections.append(
                try await LoadConnection.open(
                    port: listener.port, tls: listener.tls[index % listener.tls.count], on: group.next()))
        }
        return Fleet(devices: [], connections: connections)
    }
}
