import Authority
import Database
import Domain
import Foundation
import Operations
import Repositories
import Tokens

/// What a provider's backend calls.
package struct ProviderCalls: Sendable {
    package let introspect: Introspect
    package let revoke: RevokeSession
    package let known: ReadUserClaims
    package let check: CheckIdentityToken
    private let end: EndUserSessions

    package init(_ context: ServiceContext) {
        introspect = Introspect(context)
        revoke = RevokeSession(context)
        known = ReadUserClaims(context)
        check = CheckIdentityToken(context)
        end = EndUserSessions(context)
    }

    package func endSessions(of externalID: String, at caller: ProvenProvider) async throws {
        try await end(of: externalID, at: caller)
    }
}

/// What a user calls of the own data.
package struct OwnDataCalls: Sendable {
    private let read: ReadProfile
    private let endpoint: SetPushEndpoint
    package let export: ExportPersonalData
    package let erase: ErasePersonalData
    private let admit: AdmitExportToken

    package init(_ context: ServiceContext) {
        read = ReadProfile(context)
        endpoint = SetPushEndpoint(context)
        export = ExportPersonalData(context)
        erase = ErasePersonalData(context)
        admit = AdmitExportToken(context)
    }

    package func callAsFunction(_ session: Session) async throws -> Profile { try await read(session) }

    package func setPushEndpoint(_ arn: String?, for session: Session) async throws {
        try await endpoint(arn, for: session)
    }

    package func holder(of token: String, on connection: ClientConnection) throws(Refusal) -> UserID {
        try admit(token, on: connection)
    }
}

/// The end of certificates: by the device itself, or by an admin in another process, which the node then hears of.
package struct RevocationCalls: Sendable {
    private let revokeOwn: RevokeOwnCertificate
    private let byAdmin: RevokeDeviceCertificate
    private let watch: CacheInvalidator

    package init(_ context: ServiceContext, _ admin: AdminContext) {
        revokeOwn = RevokeOwnCertificate(context)
        byAdmin = RevokeDeviceCertificate(admin)
        watch = context.invalidator
    }

    package func own(of connection: ClientConnection) async throws { try await revokeOwn(of: connection) }

    package func revoke(serial: String, reason: RevocationReason) async throws {
        try await byAdmin(serial: serial, reason: reason)
        try await watch.poll()
    }
}

/// Providers' keys: changed by the provider itself, or by an admin in another process, which the node then hears of.
package struct ProviderKeyCalls: Sendable {
    package let add: AddOwnKey
    private let revokeOwn: RevokeOwnKey
    private let byAdmin: RevokeProviderKey
    private let watch: CacheInvalidator

    package init(_ context: ServiceContext, _ admin: AdminContext) {
        add = AddOwnKey(context)
        revokeOwn = RevokeOwnKey(context)
        byAdmin = RevokeProviderKey(admin)
        watch = context.invalidator
    }

    @discardableResult
    package func revoke(
        _ id: ProviderKeyID, endingSessions: Bool, requester: FreshProof
    ) async throws -> ProviderKeyRevocation {
        try await revokeOwn(id, endingSessions: endingSessions, by: requester)
    }

    @discardableResult
    package func revokeByAdmin(
        _ id: ProviderKeyID, endingSessions: Bool, keepingAdded: Bool = false
    ) async throws -> ProviderKeyRevocation {
        let done = try await byAdmin(id, endingSessions: endingSessions, keepingAdded: keepingAdded)
        try await watch.poll()
        return done
    }
}

extension AuthenticateProvider {
    /// A fresh proof of a provider's, as if it came with a request.
    package func proof(
        of signer: ProviderSigner, _ key: ProviderKeyID, _ provider: ProviderID, _ now: Date
    ) async throws -> FreshProof {
        let request = ProvenRequest(method: "GET", path: "/provider", body: [])
        return try await fresh(
            try signer.freshProviderToken(
                provider: provider, kid: key, realm: ServiceFixture.realm, identifier: UUID().uuidString,
                request: request, now: now), for: request, at: .free)
    }
}
