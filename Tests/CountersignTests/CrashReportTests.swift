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

    @Test(
        "says where the running service stopped, and shows nothing of its memory",
        arguments: [[:], ["SWIFT_BACKTRACE": "enable=yes,registers=all,threads=crashed"]])
    func trap(environment: [String: String]) async throws {
        let service = try await RunningService(environment: environment)
        let name = try String(contentsOfFile: "/proc/\(service.processIdentifier)/comm", encoding: .utf8)
        #expect(name == "countersign\n")
        kill(service.processIdentifier, SIGILL)
        #expect(service.ended(within: 60) == nil)
        #expect(service.processIdentifier == 0, "it goes on")
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(log.contains("crashed"), "\(log.suffix(2000))")
        #expect(!log.contains("Registers") && !log.contains("rsp 0x") && !log.contains("\"registers\""))
    }
}
