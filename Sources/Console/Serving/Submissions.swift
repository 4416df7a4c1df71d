import Domain
import Encoding
import Synchronization

/// The latest submissions of forms on this node. A form that is sent twice, as by a double click, is one action, whose
/// answer both get. An action goes on if its browser is gone.
final class Submissions: Sendable {
    struct Key: Hashable {
        let administrator: AdministratorID
        let target: String
        let operationID: String
        /// SHA-256 of the whole form. A form with other values under the same id is a new action.
        let digest: Digest256

        init(administrator: AdministratorID, target: String, operationID: String, form: [UInt8]) {
            self.administrator = administrator
            self.target = target
            self.operationID = operationID
            digest = Digest256.of(form)
        }
    }

    private struct State {
        var tasks: [Key: Task<ConsoleAnswer, any Error>] = [:]
        /// The keys of the tasks, oldest first.
        var order: [Key] = []
    }

    private let state = Mutex(State())
    private let most: Int

    /// - Parameter most: how many submissions are remembered.
    init(most: Int = 1000) { self.most = most }

    /// Runs an action, unless it was run for the same submission. A failed one may be sent again.
    func answer(
        _ key: Key, _ action: @escaping @Sendable () async throws -> ConsoleAnswer
    ) async throws -> ConsoleAnswer {
        let task = state.withLock { state in
            if let known = state.tasks[key] { return known }
            let task = Task { try await action() }
            state.tasks[key] = task
            state.order.append(key)
            if state.order.count > most { state.tasks[state.order.removeFirst()] = nil }
            return task
        }
        do {
            let answer = try await task.value
            // A page has changed nothing, and is larger than a redirect.
            if case .seeOther = answer { return answer }
            forget(key)
            return answer
        } catch {
            forget(key)
            throw error
        }
    }

    private func forget(_ key: Key) {
        state.withLock { state in
            state.tasks[key] = nil
            state.order.removeAll { $0 == key }
        }
    }
}
