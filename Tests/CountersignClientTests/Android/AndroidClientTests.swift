import Fixtures
import Foundation
import Testing

/// The SDK for Android is Java. Its tests run the service's binary themselves, three classes at a time.
@Suite("The SDK for Android and the JVM", .serialized)
struct AndroidClientTests {
    private static let script = RunningService.root.appending(path: ".ci/android").path
    private static let sdk = RunningService.root.appending(path: "Sources/CountersignAndroid")
    private static let tests = "src/test/java/org/countersign/client"

    /// The classes of tests, below the folder of tests.
    private static let suites = [
        "api.ArticleTest", "api.ConventionTest", "live.AttestationTest", "live.CertificateRenewalTest",
        "live.LostAnswerTest", "live.OutageTest", "live.PresenceTest", "live.RenewalTest", "live.StreamTest",
        "live.WalletTest", "live.WholeFlowTest", "storage.AndroidStoreTest", "storage.CrashTest",
        "storage.FileStorageTest", "storage.FullDiskTest", "storage.InterruptTest",
    ]
    /// Those that also run over HTTP/1.1 each time. The soak runs all of `live` over it.
    private static let overOlderHTTP = ["live.LostAnswerTest", "live.RenewalTest", "live.WholeFlowTest"]

    /// The compiled library and tests, which every test of the suite uses.
    private static let compiled: Task<ScratchDirectory, any Error> = Task {
        let place = try ScratchDirectory.untilExit()
        try await run(["compile", place.path])
        return place
    }

    @discardableResult
    private static func run(_ arguments: [String], seconds: Double = 400) async throws -> String {
        let done = try await Command.run(script, arguments, seconds: seconds)
        let words = [done.output.suffix(6000), done.errors.suffix(6000), failures(in: done.output)[...]]
        #expect(done.status == 0, "\(words.joined(separator: "\n"))")
        return done.output
    }

    /// The failed tests and the first line of what each says.
    private static func failures(in output: String) -> String {
        output.split(separator: "\n").filter { $0.contains("=> ") || $0.hasPrefix("  JUnit Jupiter:") }
            .joined(separator: "\n")
    }

    private static func test(_ suites: [String], http: String) async throws {
        let binary = try RunningService.product("countersign")
        let output = try await run(["test", try await compiled.value.path, binary, http] + suites, seconds: 900)
        // A test on a small file system has a run of its own inside, with its own count before the last one.
        let passed = output.matches(of: /\[ +([0-9]+) tests successful/).last
        #expect(passed.flatMap { Int($0.1) } ?? 0 >= suites.count, "\(output.suffix(2000))")
    }

    @Test("compiles without warnings, for Android against stubs of its classes, and from Kotlin")
    func compiles() async throws {
        let place = try await Self.compiled.value.path
        try await Self.run(["kotlin", place])
    }

    @Test("has pages of its public API without a broken link")
    func documentation() async throws {
        let place = try await Self.compiled.value.path
        try await Self.run(["docs", place])
        #expect(FileManager.default.fileExists(atPath: "\(place)/docs/org/countersign/client/Countersign.html"))
        #expect(!FileManager.default.fileExists(atPath: "\(place)/docs/org/countersign/client/internal"))
    }

    @Test("has the guarantees of the SDK for Swift, over HTTP/2")
    func live() async throws { try await Self.test(Self.suites, http: "2") }

    @Test("has them over HTTP/1.1, too")
    func older() async throws { try await Self.test(Self.overOlderHTTP, http: "1.1") }

    @Test("has all of them over HTTP/1.1")
    func both() async throws { try await Self.test(Self.suites.filter { $0.hasPrefix("live.") }, http: "1.1") }

    @Test("has no class of tests that is left out")
    func all() throws {
        let folder = Self.sdk.appending(path: Self.tests)
        let found = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix("Test.java") }
            .map { $0.replacing("/", with: ".").replacing(".java", with: "") }
        #expect(found.sorted() == Self.suites.sorted())
    }

    @Test("sends the same requests as the SDK for Swift, for the same calls")
    func requests() async throws {
        let swift = try await Recorder.record { recorder in
            let place = try ScratchDirectory()
            try await WireScript(
                publicURL: recorder.publicURL, clientURL: recorder.clientURL, authority: recorder.authority,
                place: place
            ).run()
        }
        let compiled = try await Self.compiled.value.path
        let java = try await Recorder.record { recorder in
            let place = try ScratchDirectory()
            try await Self.run(
                [
                    "main", compiled, "org.countersign.client.wire.WireScript", recorder.publicURL.absoluteString,
                    recorder.clientURL.absoluteString, recorder.authorityFile, place.path,
                ], seconds: 400)
        }
        #expect(swift.count > 40)
        #expect(java.count == swift.count)
        for (left, right) in zip(swift, java) { #expect(left == right) }
    }
}
