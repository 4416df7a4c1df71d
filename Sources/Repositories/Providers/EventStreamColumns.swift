import Database
import Domain
import Encoding
import Foundation

/// The columns of `event_streams`. The sealed header and the receiver's breaker have statements of their own.
struct EventStreamColumns: ColumnSet {
    let id: Column<EventStreamID>
    let provider: Column<ProviderID>
    let pushURL: Column<String?>
    let approvedURL: Column<String?>
    let events: Column<String?>
    let description: Column<String?>
    let algorithm: Column<AccessTokenAlgorithm>
    let subjectForm: Column<EventStreamSettings.SubjectForm>
    let status: Column<EventStream.Status>
    let statusReason: Column<String?>
    let createdAt: Column<Date>
    let verifiedAt: Column<Date?>
    let activeAt: Column<Date?>
    /// Whether the outbox must send nothing now.
    let holds: Column<Bool>

    init(_ list: inout ColumnList) {
        id = list.add("id")
        provider = list.add("provider_id")
        pushURL = list.add("push_url")
        approvedURL = list.add("approved_url")
        events = list.add("events")
        description = list.add("description")
        algorithm = list.add("algorithm")
        subjectForm = list.add("subject_form")
        status = list.add("status")
        statusReason = list.add("status_reason")
        createdAt = list.add("created_at")
        verifiedAt = list.add("verified_at")
        activeAt = list.add("active_at")
        holds = list.addWritten("holds")
    }

    func stream(_ row: Row) throws -> EventStream {
        let settings = EventStreamSettings(
            delivery: try row[pushURL].map { .push($0) } ?? .poll, requested: try row[events].map(Self.list),
            description: try row[description], algorithm: try row[algorithm], subjectForm: try row[subjectForm])
        return EventStream(
            id: try row[id], provider: try row[provider], settings: settings, status: try row[status],
            statusReason: try row[statusReason], createdAt: try row[createdAt], approvedURL: try row[approvedURL],
            verifiedAt: try row[verifiedAt], activeAt: try row[activeAt])
    }

    func write(_ stream: EventStream, to row: inout NewRow) {
        let settings = stream.settings
        row.set(id, stream.id)
        row.set(provider, stream.provider)
        if case .push(let url) = settings.delivery { row.set(pushURL, url) }
        row.set(approvedURL, stream.approvedURL)
        row.set(events, settings.requested.map { JSONValue.array($0.map { .string($0) }).jsonText })
        row.set(description, settings.description)
        row.set(algorithm, settings.algorithm)
        row.set(subjectForm, settings.subjectForm)
        row.set(status, stream.status)
        row.set(statusReason, stream.statusReason)
        row.set(createdAt, stream.createdAt)
        row.set(verifiedAt, stream.verifiedAt)
        row.set(activeAt, stream.activeAt)
        row.set(holds, stream.present.status == .paused)
    }

    /// The URIs of a stored list.
    static func list(_ text: String) -> [String] {
        guard case .array(let values)? = try? StrictJSON.parse(Array(text.utf8)) else { return [] }
        return values.compactMap(\.text)
    }
}

extension EventStream.Status: ColumnContent {}
extension EventStreamSettings.SubjectForm: ColumnContent {}
