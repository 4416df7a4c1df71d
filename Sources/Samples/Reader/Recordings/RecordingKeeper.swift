import Foundation
import GRDB
import Logging
import SampleBackend

/// Brings complete recordings into the archive, and removes those that do not become complete.
struct RecordingKeeper: Sendable {
    /// Why a complete recording is refused. It is removed, and the app announces it again.
    enum Fault: Error { case digest, format }

    let store: ReaderStore
    let uploads: UploadFolder
    let archive: any RecordingArchive
    let logger: Logger

    /// Checks a complete recording, and stores it if the archive accepts it now. The loop tries again later.
    ///
    /// - Throws: ``Fault``.
    func complete(_ recording: ReaderStore.Recording) async throws {
        let (sha256, head) = try await uploads.inspect(recording.id)
        let kind = AudioKind(head)
        guard recording.sha256 == nil || recording.sha256 == sha256, let kind else {
            try await remove(recording)
            throw recording.sha256 == nil || recording.sha256 == sha256 ? Fault.format : Fault.digest
        }
        let day = Date(timeIntervalSince1970: TimeInterval(recording.createdAt)).formatted(.iso8601)
        let name = "\(day.prefix(4))/\(day.dropFirst(5).prefix(2))/\(recording.article).\(kind.rawValue)"
        try await store.finish(recording.id, sha256: sha256, name: name)
        await put(recording.id, name, sha256: sha256)
    }

    private func put(_ id: String, _ name: String, sha256: String) async {
        guard let kind = AudioKind(rawValue: String(name.split(separator: ".").last ?? "")) else { return }
        do {
            try await archive.store(uploads.file(id), as: name, sha256: sha256, mediaType: kind.mediaType)
            try await store.noteStored(id)
            try await uploads.remove(id)
        } catch {
            let reason = (error as? Options.Failure)?.reason ?? "\(error)"
            logger.warning("\(name) is not in the archive yet: \(reason)")
        }
    }

    func remove(_ recording: ReaderStore.Recording) async throws {
        // In this order, so that a crash between both leaves no file that nothing removes.
        try await uploads.remove(recording.id)
        try await store.deleteRecording(recording.id)
    }

    /// Removes the files that a crash left after their recordings were stored.
    private func sweep() async throws {
        // Files first: a recording is stored before its file, so one that is announced now is in the second list.
        let files = try await uploads.ids()
        let known = Set(try await store.waitingRecordings().map(\.id))
        for id in files where !known.contains(id) { try await uploads.remove(id) }
    }

    /// Works until its task is cancelled.
    func run(every pause: Duration) async {
        do { try await sweep() } catch { logger.warning("old files are removed at the next start: \(error)") }
        repeat {
            do {
                for recording in try await store.waitingRecordings() where uploads.reserve(recording.id) {
                    defer { uploads.release(recording.id) }
                    do {
                        try await advance(recording.id)
                    } catch {
                        // Others do not wait for one that cannot be read.
                        logger.warning("recording \(recording.id) is examined again later: \(error)")
                    }
                }
            } catch {
                logger.warning("recordings are examined again later: \(error)")
            }
        } while (try? await Task.sleep(for: pause)) != nil
    }

    /// The next step of a reserved recording, which is read again, because a request may have changed it.
    private func advance(_ id: String) async throws {
        guard let recording = try await store.waitingRecordings().first(where: { $0.id == id }) else { return }
        if let name = recording.name, let sha256 = recording.sha256 {
            await put(id, name, sha256: sha256)
        } else if recording.isComplete {
            do {
                try await complete(recording)
            } catch let fault as Fault {
                logger.warning("a recording was removed: \(fault)")
            }
        } else if recording.expiresAt <= ReaderStore.now {
            try await remove(recording)
        }
    }
}
