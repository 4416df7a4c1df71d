import ArgumentParser
import Encoding
import Fixtures
import Foundation
import Testing

@testable import countersign

@Suite("The report of a command")
struct ReportTests {
    private struct Session {
        let id: String
        let device: String?
        let lastUsed: Date?
    }

    private static var fields: [Field<Session>] {
        [
            Field("session_id", "session", column: "SESSION") { $0.id }, .json("device_id") { $0.device },
            Field("last_used_at", column: "LAST USED") { $0.lastUsed }, .people("state") { _ in "open" },
            .jsonIfPresent("note") { $0.device },
        ]
    }

    private let sessions = [
        Session(id: "a", device: "d", lastUsed: Date(timeIntervalSince1970: 0)),
        Session(id: "b", device: nil, lastUsed: nil),
    ]

    @Test("is one description of a record: members for programs, rows for people")
    func record() {
        let report = Report(sessions[0], Self.fields)
        #expect(
            report.json.jsonText
                == #"{"session_id":"a","device_id":"d","last_used_at":"1970-01-01T00:00:00Z","note":"d"}"#)
        #expect(
            report.tables == [[["session", "a"], ["last used at", "1970-01-01T00:00:00Z"], ["state", "open"]]])
    }

    @Test("has null and a dash for a missing value, and a heading for an empty list")
    func missing() throws {
        let report = Report(Array(sessions.dropFirst()), Self.fields)
        #expect(report.json.jsonText == #"[{"session_id":"b","device_id":null,"last_used_at":null}]"#)
        #expect(report.tables == [[["SESSION", "LAST USED"], ["b", "-"]]])
        #expect(Report([], Self.fields).json.jsonText == "[]")
        #expect(Report([], Self.fields).tables == [[["SESSION", "LAST USED"]]])
        #expect(Report([], Self.fields).notes == ["There is nothing to list."])
        let page = try PageOptions.parse(["--cursor", ""]).report([], Self.fields)
        #expect(page.notes == [#"There is nothing to list after ""."#])
        #expect(Report([Entry("reason", String?.none, none: nil)]).tables == [[]])
        #expect(Report([Entry("reason", String?.none, none: nil)]).json.jsonText == #"{"reason":null}"#)
    }

    @Test("contains a list as a further member and a further table, without the columns left out")
    func nested() {
        let report = Report([Entry("device_id", "device", "d")])
            .with("sessions", sessions, Self.fields, leavingOut: ["LAST USED"])
        #expect(report.tables == [[["device", "d"]], [["SESSION"], ["a"], ["b"]]])
        #expect(report.json["device_id"]?.text == "d")
        #expect(report.json["sessions"] == Report(sessions, Self.fields).json)
    }

    @Test("of a full page names the last row for the next one, in quotes if it has spaces")
    func page() throws {
        let page = try PageOptions.parse(["--limit", "2"])
        #expect(page.report(sessions, Self.fields).hint == "Shown: 2. For more, add --cursor b.")
        #expect(page.report(Array(sessions.dropLast()), Self.fields).hint == nil)
        let spaced = [Session(id: "country US", device: nil, lastUsed: nil)]
        #expect(
            try PageOptions.parse(["--limit", "1"]).report(spaced, Self.fields).hint
                == #"Shown: 1. For more, add --cursor "country US"."#)
    }

    @Test("has at least one row, so that an empty table means an empty list")
    func limit() {
        for limit in ["0", "100001"] {
            #expect(throws: (any Error).self) { try PageOptions.parse(["--limit", limit]) }
        }
    }

    @Test("is made of settings that were resolved once")
    func settings() throws {
        for file in try SourceFile.all(below: "Sources/countersign/Commands") {
            // `serve` has settings of its own, and so has `doctor`, outside this folder.
            guard !["Installation.swift", "ServeCommand.swift"].contains(file.name) else { continue }
            #expect(!file.text.contains(/Settings\.resolve|OperatorName\(|PolicyFiles\.load/), "\(file.path)")
        }
    }
}
