import Fixtures
import Foundation
import Testing

@testable import countersign

@Suite("The report of a trap", .serialized)
struct CrashReportTests {
    @Test("leaves registers out, whatever else the operator has set")
    func settings() {
        #expect(CrashReport.settings(replacing: nil)?.hasSuffix(",registers=none,format=text") == true)
        #expect(CrashReport.settings(replacing: "") == CrashReport.settings(replacing: nil))
        #expect(
            CrashReport.settings(replacing: "preset=full,format=json")
                == "preset=full,format=json,registers=none,format=text")
        for present in [nil, "enable=no", "registers=none,format=text,registers=all"] as [String?] {
            let settings = CrashReport.settings(replacing: present)
            #expect(settings != nil)
            // The second start finds nothing to do.
            #expect(CrashReport.settings(replacing: settings) == nil)
        }
    }

    private func log(of service: RunningService) throws -> String {
        try String(contentsOf: service.path("log"), encoding: .utf8)
    }

    @Test(
        "says where the running service stopped, and shows nothing of its memory",
        // Names of functions take half a minute of a debug build: `make soak` waits for them.
        arguments: Soak.isOn
            ? [["SWIFT_BACKTRACE": ""], ["SWIFT_BACKTRACE": "enable=yes,registers=all,threads=crashed"]]
            : [["SWIFT_BACKTRACE": "enable=yes,registers=all,threads=crashed,symbolicate=off"]])
    func trap(environment: [String: String]) async throws {
        let service = try await RunningService(environment: environment)
        let name = try String(contentsOfFile: "/proc/\(service.processIdentifier)/comm", encoding: .utf8)
        #expect(name == "countersign\n")
        kill(service.processIdentifier, SIGILL)
        // The report ends with its duration. A signal that was sent and not raised is over with it: the next one ends.
        for _ in 0..<1200 {
            if try log(of: service).contains("Backtrace took") { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        kill(service.processIdentifier, SIGILL)
        #expect(service.ended(within: 10) == nil)
        #expect(service.processIdentifier == 0, "it goes on")
        let text = try log(of: service)
        #expect(text.contains("crashed"), "\(text.suffix(2000))")
        #expect(!text.contains("Registers") && !text.contains("rsp 0x") && !text.contains("\"registers\""))
    }
}
