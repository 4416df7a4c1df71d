import Authority
import Database
import Domain
import Foundation
import Operations
import Repositories
import Tokens

/// The end of certificates: by the device itself, or by an admin in another process, which the node then hears of.
package struct RevocationCalls: Sendable {
    private let service: Service
    private let admin: Administration

    package init(_ service: Service, _ admin: Administration) {
        self.service = service
        self.admin = admin
    }

    package func own(of connection: ClientConnection) async throws {
        try await service.revokeOwnCertificate(of: connection)
    }

    package func revoke(serial: String, reason: RevocationReason) async throws {
        try await admin.revokeCertificate(serial: serial, reason: reason)
        try await service.invalidator.poll()
    }
}

extension ServiceFixture {
    /// Revokes a provider's key as an admin in another process does, which the node then hears of.
    @discardableResult
    package func revokeKeyByAdmin(
        _ id: ProviderKeyID, endingSessions: Bool, keepingAdded: Bool = false
    ) async throws -> ProviderKeyRevocation {
        let done = try await admin.revokeProviderKey(id, endingSessions: endingSessions, keepingAdded: keepingAdded)
        try await watch.poll()
        return done
    }
}

extension Service {
    /// A fresh proof of a provider's, as if it came with a request.
    package func proof(
        of signer: ProviderSigner, _ key: ProviderKeyID, _ provider: ProviderID, _ now: Date
    ) async throws -> FreshProof {
        let request = ProvenRequest(method: "GET", path: "/provider", body: [])
        return try await freshProof(
            try signer.freshProviderToken(
                provider: provider, kid: key, realm: ServiceFixture.realm, identifier: UUID().uuidString,
                request: request, now: now), for: request, at: .free)
    }
}
