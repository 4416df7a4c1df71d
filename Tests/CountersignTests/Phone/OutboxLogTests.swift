import Domain
import Encoding
import Fixtures
import Foundation
import Logging
import Testing

@testable import countersign

@Suite("The log of messages that cannot be sent")
struct OutboxLogTests {
    private static func message(_ kind: OutboxKind) -> OutboxMessage {
        OutboxMessage(
            id: OutboxMessageID(UUID()), kind: kind, owner: OutboxOwner(stored: ""), subject: "s-4155552671",
            userID: UserID(UUID()), deduplicationKey: "d-4155552671", payload: Array("p-4155552671".utf8),
            createdAt: .now, expiresAt: .now + 3600, dueAt: .now, tries: 1)
    }

    @Test(
        "has a line for each try that fails and for the last one, with kind, id and cause",
        arguments: OutboxKind.allCases)
    func lines(kind: OutboxKind) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/log"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let writer = LogWriter(try #require(FileHandle(forWritingAtPath: path)))
        let logger = Logger(label: "test") { _ in JSONLogHandler(writer: writer, level: .info) }
        let rule = RetryRule.outbox
        let message = Self.message(kind)
        let failure = OutboxMessage.Result.unavailable("webhook: connection refused")
        var last = message
        last.tries = rule.tries
        for (before, result) in [
            (message, failure), (last, failure), (message, .refused("HTTP 400")), (message, .sent),
            (message, .overtaken("another code was requested")), (message, .endpointGone),
        ] {
            Server.log(before.after(result, now: .now, rule: rule), to: logger)
        }
        writer.flush()
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let values = try lines.map { try StrictJSON.parse(Array($0.utf8)) }
        #expect(
            values.compactMap { $0["cause"]?.text } == [
                "webhook: connection refused", "webhook: connection refused", "HTTP 400",
            ])
        #expect(values.compactMap { $0["level"]?.text } == ["warning", "error", "error"])
        for value in values {
            #expect(value["message_id"]?.text == message.id.description && value["kind"]?.text == kind.rawValue)
        }
        #expect(lines.allSatisfy { !$0.contains("4155552671") })
    }
}
