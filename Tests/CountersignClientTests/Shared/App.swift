import Fixtures
import Foundation
import HTTPTypes
import Synchronization

@testable import CountersignClient

/// An app on a device of its own: where it keeps things, and what it exchanges.
final class App: Sendable {
    let directory: ScratchDirectory
    let client: Countersign
    private let box: Box

    /// - Parameters:
    ///   - directory: that of another app, whose device this is then.
    ///   - ahead: by how much the device's clock is wrong, seconds.
    ///   - watch: is called after each exchange.
    init(
        _ service: Service, directory: ScratchDirectory? = nil, presence: Presence? = nil, ahead: TimeInterval = 0,
        watch: @escaping @Sendable (Exchange) -> Void = { _ in }
    ) throws {
        let place = try directory ?? ScratchDirectory()
        self.directory = place
        let seen = Box()
        client = Countersign(
            service, keys: FileKeys(directory: URL(filePath: place.file("keys"))),
            store: FileStore(file: URL(filePath: place.file("secret.json"))), presence: presence,
            watch: {
                seen.add($0)
                watch($0)
            },
            now: { Date().addingTimeInterval(ahead) })
        box = seen
    }

    /// What was exchanged, in the order of the answers.
    var exchanges: [Exchange] { box.all }

    /// How often a path was asked for, with an answer of this status if one is given.
    func count(_ path: String, status: Int? = nil) -> Int {
        box.all.count { $0.path == path && (status == nil || $0.status == status) }
    }

    /// Acts until that is refused, as it is a moment after an admin's command.
    func refusal() async throws -> Refusal {
        for _ in 0..<2400 {
            do throws(Refusal) { try await client.act() } catch { return error }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw LiveService.Missing(what: "a refusal")
    }

    private final class Box: Sendable {
        private let seen = Mutex<[Exchange]>([])
        var all: [Exchange] { seen.withLock { $0 } }
        func add(_ exchange: Exchange) { seen.withLock { $0.append(exchange) } }
    }
}

extension Countersign {
    /// A protected action, as an app makes it.
    func act() async throws(Refusal) {
        _ = try await call(HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/sessions/current"))
    }
}

/// Looks again and again until something is so.
///
/// - Parameter seconds: how long at most.
func eventually(seconds: Int = 120, _ condition: () async throws -> Bool) async throws {
    for _ in 0..<seconds * 50 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(20))
    }
    throw LiveService.Missing(what: "what was waited for")
}

/// Whether loops in other tasks are to end.
final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

/// Sentences from any task.
final class Sentences: Sendable {
    private let value = Mutex<[String]>([])
    var all: [String] { value.withLock { $0 } }
    func add(_ sentence: String) { value.withLock { $0.append(sentence) } }
}
