import Database
import Domain

// For the operations of phones, cards and providers, which are structures still.

package typealias ServiceContext = Service
package typealias AdminContext = Administration

extension Service {
    @discardableResult
    func commit<T: Sendable>(
        inTurn turn: Turn? = nil, _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await write(inTurn: turn, body)
    }
}

extension Administration {
    @discardableResult
    func commit<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await write(body)
    }
}

/// The store of an operation that acts for a session.
struct SessionStore: Sendable {
    typealias Ahead = SessionHolder.Ahead
    private let service: Service

    init(_ service: Service) { self.service = service }

    @discardableResult
    func act<T: Sendable>(
        for shown: Session, inTurn turn: Turn? = nil, ahead: Ahead? = nil,
        _ body: @Sendable @escaping (any Transaction, SessionHolder, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await service.act(for: shown, inTurn: turn, ahead: ahead, body)
    }
}
