import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import SampleBackend

/// Resumable uploads of recordings by tus 1.0 (https://tus.io/protocols/resumable-upload): the core protocol with the
/// extensions creation, checksum, expiration and termination.
///
/// A connection of a phone breaks in the middle of a large file. The app then asks for the offset (`HEAD`) and
/// continues there (`PATCH`).
struct RecordingRoutes: Sendable {
    let store: ReaderStore
    let verify: SessionVerifier
    let uploads: UploadFolder
    let keeper: RecordingKeeper
    /// The maximum size of a recording in bytes.
    let maximum: Int64
    private let creations = Limiter(60, per: 3600), parts = Limiter(600, per: 60)

    init(
        store: ReaderStore, verify: SessionVerifier, uploads: UploadFolder, keeper: RecordingKeeper, maximum: Int64
    ) {
        (self.store, self.verify, self.uploads, self.keeper) = (store, verify, uploads, keeper)
        self.maximum = maximum
    }

    func add(to router: Router<SampleContext>) {
        let group = router.group("recordings").add(middleware: TusVersion())
        group.on("", method: .options) { _, _ in
            let fields: HTTPFields = [
                .tusVersion: TusVersion.supported, .tusExtension: "creation,checksum,expiration,termination",
                .tusMaximum: "\(maximum)", .tusAlgorithms: "sha1,sha256",
            ]
            return Response(status: .noContent, headers: fields)
        }
        group.post(use: announce)
        group.get(":id") { request, context in
            let (recording, _) = try await recording(request, context)
            return try Response.json(Shown(recording))
        }
        group.head(":id") { request, context in
            let (recording, _) = try await recording(request, context)
            var fields = Self.progress(recording)
            fields[.uploadLength] = "\(recording.length)"
            fields[.cacheControl] = "no-store"
            return Response(status: .ok, headers: fields)
        }
        group.patch(":id", use: append)
        group.delete(":id") { request, context in
            let (known, reader) = try await recording(request, context)
            guard uploads.reserve(known.id) else { throw Self.locked }
            defer { uploads.release(known.id) }
            guard let recording = try await store.recording(known.id, of: reader), recording.name == nil else {
                throw HTTPError(.forbidden, message: "the recording is complete: only staff delete it")
            }
            try await keeper.remove(recording)
            return Response(status: .noContent)
        }
    }

    private struct Shown: Encodable {
        let id, article, state: String
        let length, received: Int64
        let sha256: String?

        init(_ recording: ReaderStore.Recording) {
            (id, article, sha256) = (recording.id, recording.article, recording.sha256)
            (length, received) = (recording.length, recording.received)
            state = recording.storedAt != nil ? "stored" : recording.name != nil ? "received" : "incomplete"
        }
    }

    /// `POST /recordings` with `Upload-Length`, and with `article` and optionally `sha256` in `Upload-Metadata` → `201`
    /// with `Location`. A repetition returns the place of the first one.
    @Sendable private func announce(_ request: Request, _ context: SampleContext) async throws -> Response {
        let reader = try await store.reader(try await verify(request, context))
        guard let length = Self.number(request, .uploadLength), length > 0 else {
            throw HTTPError(.badRequest, message: "Upload-Length must be the size in bytes")
        }
        guard length <= maximum else {
            throw HTTPError(.contentTooLarge, message: "a recording has at most \(maximum) bytes")
        }
        let metadata = try UploadMetadata(request.headers[.uploadMetadata] ?? "")
        try await creations.count(reader)
        do {
            let made = try await store.announce(length, sha256: metadata.sha256, of: metadata.article, by: reader)
            var fields = Self.progress(made)
            fields[.location] = "/recordings/\(made.id)"
            return Response(status: .created, headers: fields)
        } catch let conflict as ReaderStore.RecordingConflict {
            switch conflict {
            case .unknownArticle: throw HTTPError(.notFound, message: "unknown article: submit it first")
            case .taken: throw HTTPError(.conflict, message: "the article has another recording")
            case .tooMany:
                throw HTTPError(.conflict, message: "too many incomplete recordings: continue or delete them first")
            case .full:
                throw HTTPError(
                    .init(code: 507, reasonPhrase: "Insufficient Storage"), headers: [.retryAfter: "3600"],
                    message: "too many recordings wait for the archive: try again later")
            }
        }
    }

    /// `PATCH /recordings/{id}` with `Upload-Offset` and optionally `Upload-Checksum` → `204` with the new offset;
    /// `409` for another offset, `460` for another checksum. The last part is answered after the file was checked.
    @Sendable private func append(_ request: Request, _ context: SampleContext) async throws -> Response {
        let (known, reader) = try await recording(request, context)
        guard request.headers[.contentType] == "application/offset+octet-stream" else {
            throw HTTPError(.unsupportedMediaType, message: "Content-Type must be application/offset+octet-stream")
        }
        guard let offset = Self.number(request, .uploadOffset) else {
            throw HTTPError(.badRequest, message: "Upload-Offset is missing")
        }
        let checksum = try request.headers[.uploadChecksum].map { try UploadChecksum($0) }
        try await parts.count(reader)
        guard uploads.reserve(known.id) else { throw Self.locked }
        defer { uploads.release(known.id) }
        guard var recording = try await store.recording(known.id, of: reader) else { throw Self.unknown }
        guard offset == recording.received else {
            throw HTTPError(
                .conflict, headers: Self.progress(recording), message: "Upload-Offset must be the bytes received so far"
            )
        }
        if !recording.isComplete {
            try await receive(request.body, of: recording, checksum)
            guard let advanced = try await store.recording(known.id, of: reader) else { throw Self.unknown }
            recording = advanced
        }
        if recording.isComplete, recording.name == nil { try await check(recording) }
        return Response(status: .noContent, headers: Self.progress(recording))
    }

    /// Writes a part to the disk. Without a checksum the bytes before an interruption stay.
    private func receive(
        _ body: RequestBody, of recording: ReaderStore.Recording, _ checksum: UploadChecksum?
    ) async throws {
        let writer = try await uploads.writer(recording.id, at: recording.received)
        var (received, checksum) = (recording.received, checksum)
        do {
            for try await bytes in body {
                guard Int64(bytes.readableBytes) <= recording.length - received else {
                    throw HTTPError(.contentTooLarge, message: "the part goes beyond Upload-Length")
                }
                checksum?.update(bytes)
                try await writer.write(bytes)
                received += Int64(bytes.readableBytes)
            }
        } catch {
            // The bytes are kept even if this task was cancelled. A new task is not.
            let end: Int64? = checksum == nil ? received : nil
            try await Task { [store] in
                try await writer.close()
                if let end { try await store.advance(recording.id, to: end) }
            }.value
            throw error
        }
        try await writer.close()
        guard checksum?.isMatched != false else {
            throw HTTPError(Self.mismatch, message: "Upload-Checksum does not match the part: send it again")
        }
        try await store.advance(recording.id, to: received)
    }

    private func check(_ recording: ReaderStore.Recording) async throws {
        do {
            try await keeper.complete(recording)
        } catch let fault as RecordingKeeper.Fault {
            switch fault {
            case .digest:
                throw HTTPError(
                    Self.mismatch, message: "the file has another sha256 and was removed: announce it again")
            case .format:
                throw HTTPError(
                    .unsupportedMediaType, message: "the file is not M4A, MP3, WAV, FLAC, Ogg or CAF and was removed")
            }
        }
    }

    private static let mismatch = HTTPResponse.Status(code: 460, reasonPhrase: "Checksum Mismatch")
    private static let unknown = HTTPError(.notFound, message: "unknown recording")
    private static let locked = HTTPError(
        .init(code: 423, reasonPhrase: "Locked"), headers: [.retryAfter: "1"],
        message: "another request works on this recording")

    private func recording(
        _ request: Request, _ context: SampleContext
    ) async throws -> (recording: ReaderStore.Recording, reader: String) {
        let reader = try await store.reader(try await verify(request, context))
        let id = try context.uuid("id").uuidString.lowercased()
        guard let known = try await store.recording(id, of: reader) else { throw Self.unknown }
        return (known, reader)
    }

    private static func number(_ request: Request, _ name: HTTPField.Name) -> Int64? {
        request.headers[name].flatMap { text in
            text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
        }
    }

    private static func progress(_ recording: ReaderStore.Recording) -> HTTPFields {
        var fields: HTTPFields = [.uploadOffset: "\(recording.received)"]
        if recording.name == nil {
            fields[.uploadExpires] = httpDate(Date(timeIntervalSince1970: TimeInterval(recording.expiresAt)))
        }
        return fields
    }
}
