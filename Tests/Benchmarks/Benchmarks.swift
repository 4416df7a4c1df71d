import Crypto
import CryptoExtras
import Domain
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// `make bench`: drives the built service with a load on this machine and writes what it cost beside the machine's own
/// limits in the same run. `bare KEYS` runs the bare HTTP stack instead, `fuzz COUNT [SEED]` mutated cards, frames and
/// answers of wallets, `growth` only what grows with stored sessions and nodes, `only NAME…` some parts, whose sections it
/// replaces in the results; `--quick` takes a tenth of the counts and changes no results. `only console` fills PostgreSQL
/// with ten million users, or `--users N`, and runs only by its name.
/// It exits with 1 and says why if something was not measured or a promise was broken.
@main
struct Benchmarks {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("\n\(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        if arguments.first == "bare", arguments.count == 2 {
            return try await BareServer.run(keys: URL(filePath: arguments[1]))
        }
        if arguments.first == "fuzz" {
            let numbers = arguments.dropFirst().map { UInt32($0) }
            guard numbers.count <= 2, !numbers.contains(nil) else {
                throw BenchmarkError("fuzz takes a count and a seed, numbers below 2^32: fuzz 10000000 7")
            }
            let given = numbers.compactMap(\.self)
            let count = given.first.map { Int($0) } ?? 10_000_000
            let seed = UInt64(given.dropFirst().first ?? .random(in: 0...UInt32.max))
            try HeraldFuzz(count: count, seed: seed).run()
            try WalletFuzz(count: count, seed: seed).run()
            return try CardFuzz(count: count, seed: seed).run()
        }
        let quick = arguments.contains("--quick")
        let report = Report()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        if arguments.first == "growth" {
            return try await Growth(quick: quick, group: group, report: report).run()
        }
        let parts = Parts(quick: quick, group: group, report: report)
        if arguments.first == "only" {
            let isWhole = try await parts.run(only: Set(arguments.dropFirst().filter { !$0.hasPrefix("--") }))
            try finish(report)
            if !quick, isWhole, !arguments.contains("--users") { try replace(report) }
            try await group.shutdownGracefully()
            if !isWhole { exit(1) }
            return
        }
        var isWhole = try await parts.run(only: nil)
        // What was measured is kept, whatever becomes of the rest.
        if !quick { try save(report) }
        do {
            try await Growth(quick: quick, group: group, report: report).run()
        } catch {
            isWhole = false
            FileHandle.standardError.write(Data("Growth was not measured to its end: \(error)\n".utf8))
        }
        if !quick { try save(report) }
        if try await !parts.run(only: ["housekeeping"]) { isWhole = false }
        try await group.shutdownGracefully()
        try finish(report)
        if !quick { try save(report) }
        if !isWhole { exit(1) }
    }

    /// Shows the summary, and keeps all rounds beside the build.
    private static func finish(_ report: Report) throws {
        report.summarize()
        let file = RunningService.root.appending(path: ".build/bench.json")
        try report.json().write(to: file)
        FileHandle.standardError.write(Data("\nAll rounds are in \(file.path).\n".utf8))
    }

    private static func save(_ report: Report) throws {
        try report.markdown(heading: heading()).write(
            to: RunningService.root.appending(path: "Tests/Benchmarks/RESULTS.md"), atomically: true, encoding: .utf8)
    }

    /// Replaces the sections of some parts in the results.
    private static func replace(_ report: Report) throws {
        let file = RunningService.root.appending(path: "Tests/Benchmarks/RESULTS.md")
        let former = try String(contentsOf: file, encoding: .utf8)
        try report.markdown(replacingIn: former, on: day).write(to: file, atomically: true, encoding: .utf8)
    }

    private static var day: String { Date().formatted(.iso8601.year().month().day()) }

    private static func heading() -> String {
        return """
            # What it costs

            Written by `make bench` on \(day): a release build, SQLite with `synchronous=FULL`, TLS 1.3, rate limits off, one log
            line for each request. A load program on the same machine with \(ProcessInfo.processInfo.activeProcessorCount)
            processors held 64 keep-alive mutual-TLS connections. *CPU* is the service's own processor time for one
            request, from the kernel's count; throughput is shared with the load program. The machine is shared: trust
            the ratios of one run.

            """
    }
}

/// The parts that share one running service, by name.
struct Parts {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    /// Runs all parts, or those that are named. One that fails is told, and the others run all the same.
    ///
    /// - Returns: whether all came to their end.
    func run(only names: Set<String>?) async throws -> Bool {
        var isWhole = true
        func part(_ name: String, _ body: () async throws -> Void) async {
            guard names?.contains(name) ?? true else { return }
            do {
                try await body()
            } catch {
                isWhole = false
                FileHandle.standardError.write(Data("\(name) was not measured to its end: \(error)\n".utf8))
            }
        }
        let service = try await RunningService()
        await part("signin") {
            let bare = try await Bare(service, quick: quick, group: group)
            let limits = try await Limits.measure(bare, report)
            try await SignIn(
                service: service, bare: bare, limits: limits, quick: quick, group: group, report: report
            ).run()
            await bare.stop()
        }
        await part("verification") {
            try await Verification(service: service, quick: quick, group: group, report: report).run()
        }
        await part("peers") { try await Peers(service: service, quick: quick, group: group, report: report).run() }
        await part("bans") { try await Bans(service: service, quick: quick, group: group, report: report).run() }
        await part("revocations") {
            try await Revocations(service: service, quick: quick, group: group, report: report).run()
        }
        await part("hoards") { try await Hoards(service: service, report: report).run() }
        await part("herald") {
            try await HeraldCrowd(service: service, quick: quick, group: group, report: report).run()
        }
        await part("memory") { try await Memory(service: service, quick: quick, group: group, report: report).run() }
        _ = service.stop()
        await part("records") { try await RecordedSignIns(quick: quick, group: group, report: report).run() }
        await part("mass") { try await MassChanges(quick: quick, group: group, report: report).run() }
        await part("ends") { try await BansUnderEnds(quick: quick, group: group, report: report).run() }
        await part("refusals") { try await Refusals(quick: quick, group: group, report: report).run() }
        await part("rates") { try await StoreRates(quick: quick, group: group, report: report).run() }
        await part("callers") { try await Callers(quick: quick, group: group, report: report).run() }
        await part("distance") { try await StoreDistance(quick: quick, group: group, report: report).run() }
        await part("operators") { try await Operators(quick: quick, group: group, report: report).run() }
        await part("webhook") { try await HangingReceiver(quick: quick, group: group, report: report).run() }
        await part("tracing") { try await TracingCost(quick: quick, group: group, report: report).run() }
        await part("messages") { try await Messages(quick: quick, group: group, report: report).run() }
        await part("wallets") { try await Wallets(quick: quick, report: report).run() }
        await part("texts") { TextAttack(report: report).run() }
        await part("receivers") { try await EventReceivers(quick: quick, report: report).run() }
        // They take as long as half of the others: where all are run, one comes last and the other not at all.
        if names != nil {
            await part("console") { try await ConsolePages(quick: quick, group: group, report: report).run() }
            await part("housekeeping") { try await OverdueRows(quick: quick, group: group, report: report).run() }
        }
        report.section("Requests of these figures that were answered 503, since the disk stalled", ["what", "count"])
        report.row("sent again after a second", String(LoadConnection.repeated.load(ordering: .relaxed)))
        return isWhole
    }
}

/// What the machine itself takes, in the same run.
struct Limits: Sendable {
    /// Microseconds of processor time for one signature verification.
    let rs256: Double
    let es256: Double

    static func measure(_ bare: Bare, _ report: Report) async throws -> Limits {
        let measured = try await bare.measure()
        let (rs256, es256) = try verifications()
        report.section("The machine's limits", ["what", "CPU µs", "per second", "p50 ms", "p99 ms"])
        report.row(
            "keep-alive request of bare Hummingbird, mutual TLS, 350-byte answer", measured.microseconds.places(1),
            measured.perSecond.places(0), measured.p50.places(2), measured.p99.places(2))
        report.row("one RS256 verification (swift-crypto, 2048 bits)", rs256.places(1), (1e6 / rs256).places(0), "", "")
        report.row("one ES256 verification (swift-crypto)", es256.places(1), (1e6 / es256).places(0), "", "")
        return Limits(rs256: rs256, es256: es256)
    }

    static func verifications() throws -> (rs256: Double, es256: Double) {
        let message = Data(repeating: 7, count: 400)
        let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let rsaSignature = try rsa.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5)
        let ec = P256.Signing.PrivateKey()
        let ecSignature = try ec.signature(for: message)
        return (
            time(20_000) {
                rsa.publicKey.isValidSignature(
                    rsaSignature, for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5)
            },
            time(10_000) { ec.publicKey.isValidSignature(ecSignature, for: message) }
        )
    }

    /// Microseconds for one call.
    static func time(_ count: Int, _ body: () -> Bool) -> Double {
        var good = 0
        let start = ContinuousClock.now
        for _ in 0..<count where body() { good += 1 }
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        precondition(good == count, "a verification failed")
        return (Double(seconds) * 1e6 + Double(attoseconds) / 1e12) / Double(count)
    }
}
