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
        let running = listeners.map { ($0, ServiceGroup(services: [$0.service], logger: logger)) }
        let cause = await withGracefulShutdownHandler {
            await withTaskGroup { group in
                for (listener, service) in running {
                    group.addTask { await failure(of: listener, service) }
                }
                var first: (any Error)?
                for await failure in group {
                    guard let failure, first == nil else { continue }
                    first = failure
                    stopping.yield()
                    // If one fails, all stop. A listener that is cancelled would log errors of its own.
                    for (_, service) in running { await service.triggerGracefulShutdown() }
                }
                return first
            }
        } onGracefulShutdown: {
            stopping.yield()
            stopping.finish()
        }
        if let cause { throw cause }
    }

    /// Why a listener ended; ``CommandFailure`` if its address is not available, `nil` after a graceful end.
    private func failure(of listener: Listener, _ service: ServiceGroup) async -> (any Error)? {
        do {
            try await service.run()
            return nil
        } catch let error as IOError {
            return CommandFailure(
                "The \(listener.name) listener cannot listen on \(listener.address): "
                    + "\(String(cString: strerror(error.errnoCode))).")
        } catch {
            return error
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
