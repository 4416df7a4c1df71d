import Authority
import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Tokens

/// What the verification of a wallet's answer takes, from the encrypted text to the credential, beside openvc with the
/// same answers. No list of statuses is fetched.
struct Wallets {
    let quick: Bool
    let report: Report

    private static let rounds = 5
    private static let ways = [
        (file: "mdl-dc_api", name: "a mobile document by the Digital Credentials API, CPU µs"),
        (file: "mdl-annex_c", name: "a mobile document by org-iso-mdoc, CPU µs"),
        (file: "pid-dc_api", name: "an SD-JWT by the Digital Credentials API, CPU µs"),
    ]

    /// An answer with the request that it answers.
    private struct Answer {
        let given: PresentationVerifier.Answer
        let request: PresentationRequest
    }

    func run() async throws {
        try WalletLists(quick: quick, report: report).run()
        try await withTemporaryDirectory { directory in
            let script = RunningService.root.appending(path: "Tests/Interop/Wallet/pace.py").path
            let done = try await Command.run(
                ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"] ?? "python3",
                [script, "--directory", directory.path, "--count", quick ? "50" : "500"], seconds: 400)
            guard done.status == 0 else { throw BenchmarkError("openvc: \(done.errors)") }
            let others = try StrictJSON.parse(Array(done.output.utf8))
            report.section(
                "A wallet's answer, from the encrypted text to the verified credential",
                ["what", "CPU µs", "p50 ms", "p99 ms", "openvc's CPU µs", "aim"])
            for way in Self.ways {
                guard case .integer(let nanoseconds)? = others[way.file] else {
                    throw BenchmarkError("openvc measured no \(way.file): \(done.output)")
                }
                try measure(way.file, way.name, in: directory.path, openvc: Double(nanoseconds) / 1000)
            }
        }
    }

    private func measure(_ file: String, _ name: String, in directory: String, openvc: Double) throws {
        let root = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(file).der"))
        let verifier = PresentationVerifier(
            trust: IssuerTrust([try IssuerTrust.Anchor(Array(root), types: nil)]), status: .ifPresent, lists: [])
        let text = try String(contentsOfFile: "\(directory)/\(file).jsonl", encoding: .utf8)
        let answers = try text.split(separator: "\n").map { try Self.answer(StrictJSON.parse(Array($0.utf8))) }
        let process = MeasuredProcess(id: getpid())
        var (costs, times): ([Double], [Double]) = ([], [])
        // The first round fills the caches of the processor and of the libraries.
        for round in 0...Self.rounds {
            let before = process.processorSeconds
            for answer in answers {
                let start = ContinuousClock.now
                _ = try verifier.verify(answer.given, to: answer.request, now: Date())
                if round > 0 { times.append((ContinuousClock.now - start) / .milliseconds(1)) }
            }
            if round > 0 { costs.append((process.processorSeconds - before) * 1e6 / Double(answers.count)) }
        }
        costs.sort()
        times.sort()
        let own = costs[costs.count / 2]
        report.row(
            name, own.places(0), times[times.count / 2].places(2), times[times.count * 99 / 100].places(2),
            openvc.places(0), "≤ 400 µs, p99 ≤ 5 ms")
        report.compare(name, own, with: "openvc", openvc)
    }

    /// Reads a line of the script.
    private static func answer(_ json: JSONValue) throws -> Answer {
        guard let origin = json["origin"]?.text, let nonce = json["nonce"]?.text, let text = json["response"]?.text,
            let key = json["key"]?["d"]?.text.flatMap({ Base64URL.decode($0) }),
            case .array(let query)? = json["query"]
        else { throw BenchmarkError("an answer cannot be read") }
        let opening = ResponseKey(
            id: json["key"]?["kid"]?.text ?? "", privateKey: try P256.KeyAgreement.PrivateKey(rawRepresentation: key))
        let credentials = query.compactMap { member -> RequestedCredential? in
            guard let id = member["id"]?.text, let type = member["type"]?.text,
                let format = member["format"]?.text.flatMap(RequestedCredential.Format.init),
                case .array(let paths)? = member["claims"]
            else { return nil }
            return RequestedCredential(id: id, format: format, type: type, claims: paths.map(texts))
        }
        let info = json["encryption_info"]?.text
        let request = PresentationRequest(
            channel: info.map { .annexC(origin: origin, encryptionInfo: $0) } ?? .digitalCredentials(origin: origin),
            nonce: nonce, keyThumbprint: opening.thumbprint, credentials: credentials)
        return Answer(given: info == nil ? .encrypted(text, opening) : .annexC(text, opening), request: request)
    }

    private static func texts(_ path: JSONValue) -> [String] {
        guard case .array(let parts) = path else { return [] }
        return parts.compactMap(\.text)
    }
}
