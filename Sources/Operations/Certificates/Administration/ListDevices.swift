import Database
import Domain
import Repositories

/// The devices that an admin sees.
package struct ListDevices: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// The newest devices, with how many certificates and sessions each has.
    ///
    /// - Parameters:
    ///   - cursor: the id of the last one on the page before.
    ///   - user: on whose devices a session is, or was and is not forgotten yet; `nil` for everybody's.
    /// - Throws: `Refusal` `not_found` for a user, or for a cursor that is gone.
    package func callAsFunction(
        limit: Int, after cursor: String? = nil, user: String? = nil
    ) async throws -> [DeviceRepository.Summary] {
        try await context.store.snapshot { transaction in
            let devices = DeviceRepository(transaction)
            guard let user else { return try devices.list(limit: limit, after: cursor) }
            return try devices.list(
                of: UserSummary.find(user, in: transaction).user.id, limit: limit, after: cursor)
        }
    }
}
