import Logging
import NIOCore
import Synchronization

/// Log lines that unauthenticated clients cause: one of each kind in ten seconds, with the number of lines omitted
/// before it.
final class SampledLog: Sendable {
    private struct Kind {
        var next: NIODeadline
        var omitted = 0
    }

    private static let interval = TimeAmount.seconds(10)

    private let logger: Logger
    private let kinds = Mutex<[String: Kind]>([:])

    init(logger: Logger) {
        self.logger = logger
    }

    /// Writes or counts a line. `kind` is a constant of the service.
    func warning(_ message: Logger.Message, kind: String, _ metadata: Logger.Metadata) {
        guard let omitted = admit(kind, at: .now()) else { return }
        var metadata = metadata
        if omitted > 0 { metadata["omitted"] = .stringConvertible(omitted) }
        logger.warning(message, metadata: metadata)
    }

    /// The number of lines omitted before this one; `nil` if this one is omitted.
    func admit(_ kind: String, at now: NIODeadline) -> Int? {
        kinds.withLock { kinds in
            guard let known = kinds[kind], known.next > now else {
                let omitted = kinds[kind]?.omitted ?? 0
                kinds[kind] = Kind(next: now + Self.interval)
                return omitted
            }
            kinds[kind]?.omitted += 1
            return nil
        }
    }
}
