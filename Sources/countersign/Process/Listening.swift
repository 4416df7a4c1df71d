import API
import Foundation
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// The listeners as one service. They stop together, each after its last pending response.
///
/// If a stop exceeds its time limit, or a second signal arrives, all open connections are closed.
struct Listening: Service {
    struct Listener {
        let name: String
        let address: ListenAddress
        let service: any Service
    }

    let listeners: [Listener]
    let open: OpenChannels
    let timeout: Duration
    let logger: Logger

    func run() async throws {
        let (stops, stopping) = AsyncStream<Void>.makeStream()
        let ending = Task {
            for await _ in stops { await endWhatStays() }
        }
        defer {
            stopping.finish()
            ending.cancel()
        }
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup { group in
                for listener in listeners {
                    group.addTask { try await run(listener) }
                }
                // If one fails, all stop.
                while try await group.next() != nil {}
            }
        } onGracefulShutdown: {
            stopping.yield()
            stopping.finish()
        }
    }

    /// - Throws: ``CommandFailure`` if the address is not available.
    private func run(_ listener: Listener) async throws {
        do {
            try await listener.service.run()
        } catch let error as IOError {
            throw CommandFailure(
                "The \(listener.name) listener cannot listen on \(listener.address): "
                    + "\(String(cString: strerror(error.errnoCode))).")
        }
    }

    private func endWhatStays() async {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let reason = await withTaskGroup(of: String?.self) { group in
            group.addTask { await signals.first { _ in true } == nil ? nil : "a second signal" }
            group.addTask { (try? await Task.sleep(for: timeout)) == nil ? nil : "the time limit" }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let reason else { return }
        logger.warning(
            "\(reason) ends the connections that are still open", metadata: ["connections": "\(open.count)"])
        open.closeAll()
    }
}

/// A loop that ends with the service.
struct Loop: Service {
    let name: String
    let logger: Logger
    let body: @Sendable () async throws -> Void

    func run() async throws {
        try await cancelWhenGracefulShutdown { try await body() }
        logger.debug("\(name) ended")
    }
}

extension ListenAddress {
    var listener: ListenerAddress { ListenerAddress(host: host, port: port) }

    /// The address with the actual port.
    func host(port: Int) -> String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
