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
    package func callAsFunction(limit: Int) async throws -> [DeviceRepository.Summary] {
        try await context.store.snapshot { try DeviceRepository($0).list(limit: limit) }
    }
}
