import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Operations

@testable import Console

/// A store with one administrator, whose requests reach routes without a listener.
struct ConsoleWorld: Sendable {
    let fixture: ServiceFixture
    let administrator: Administrator
    let thumbprint: Digest256

    static let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))

    static func run(
        as role: AdminRole, _ policy: Policy = Policy(), on kind: StoreKind = .usual,
        _ body: (ConsoleWorld) async throws -> Void
    ) async throws {
        try await ServiceFixture.run(policy, on: kind) { fixture in
            let thumbprint = Digest256.of("certificate of lena")
            let administrator = try await fixture.admin.addAdministrator(
                "lena", role: role,
                certificate: AdministratorCertificate(
                    thumbprint: thumbprint, notAfter: fixture.clock.now + 86_400, authority: Digest256.of("authority")))
            try await body(ConsoleWorld(fixture: fixture, administrator: administrator, thumbprint: thumbprint))
        }
    }

    /// The operations with the role of the administrator.
    var administration: Administration {
        let keys = fixture.personalKeys
        return Administration(
            store: fixture.store, environment: fixture.admin.environment, actor: "admin lena, \(administrator.role)",
            administrator: administrator
        ) { keys }
    }

    /// A request whose checks have passed.
    ///
    /// - Parameters:
    ///   - segments: those in place of the route's placeholders.
    ///   - values: the query, or the members of the form.
    func request(
        _ segments: [String] = [], _ values: [String: String] = [:], operationID: String? = nil
    ) -> ConsoleRequest {
        ConsoleRequest(
            segments: segments, values: values, administrator: administrator, administration: administration,
            now: fixture.clock.now, operationID: operationID,
            tokens: FormToken(key: Self.key, thumbprint: thumbprint), newOperationID: { UUID().uuidString },
            parts: ConsoleParts(service: fixture.context))
    }
}
