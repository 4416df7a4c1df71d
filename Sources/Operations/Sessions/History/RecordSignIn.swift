import Domain
import Encoding
import Foundation
import Repositories
import Synchronization
import Tokens

/// What is known so far of an attempt to sign in. The verification of an identity token requires one, and only
/// ``Service/recordSignIn(_:on:_:)`` makes one. So no way to sign in is without a record.
final class SignInTrace: Sendable {
    struct Known: Sendable {
        var providerID: ProviderID?
        var externalID: String?
        var keyID: ProviderKeyID?
        var applicationID: ApplicationID?
        /// Whether the user is that of a session to renew, whatever the token says.
        var isOfSession = false
        /// What a token says that names the user. Only a refusal reads it: a session that was opened has the name.
        fileprivate var claims: JSONOutline?
    }

    private let state = Mutex(Known())

    fileprivate init() {}

    /// Notes what a token says that is not verified yet. A name that the service does not know is left out, because
    /// any sender can invent it.
    func note(_ token: UnverifiedToken, of provider: CachedProvider?, key: ProviderKeyID?) {
        guard let provider else { return }
        state.withLock { known in
            // A renewal may come with another provider's token, whose key is not for this provider to see.
            guard !known.isOfSession || known.providerID == provider.provider.id else { return }
            known.keyID = key
            guard !known.isOfSession else { return }
            known.providerID = provider.provider.id
            known.claims = token.payload
        }
    }

    /// Notes the session to renew.
    func note(_ session: Session) {
        state.withLock { known in
            (known.providerID, known.externalID) = (session.providerID, session.externalID)
            (known.applicationID, known.isOfSession, known.claims) = (session.applicationID, true, nil)
        }
    }

    func note(_ application: Application) {
        ProvenParties.note(application.providerID, application.id)
        state.withLock { $0.applicationID = application.id }
    }

    fileprivate var known: Known {
        var known = state.withLock { $0 }
        guard let claims = known.claims else { return known }
        let name = (claims["prn"] ?? claims["sub"])?.text
        known.externalID = name.flatMap { (1...256).contains($0.utf8.count) && !$0.utf8.contains(0) ? $0 : nil }
        return known
    }
}

extension Service {
    /// Records an attempt to open or renew a session, whatever its result. Every way to sign in passes here. Nothing is
    /// written meanwhile: see ``WriteSignIns``.
    func recordSignIn(
        _ act: SignInAttempt.Act, on connection: ClientConnection,
        _ body: (SignInTrace) async throws -> OpenedSession
    ) async throws -> OpenedSession {
        let trace = SignInTrace()
        do {
            let opened = try await body(trace)
            note(act, SignInTrace.Known(opened.session), of: opened.session, on: connection)
            return opened
        } catch let refusal as Refusal {
            note(act, trace.known, refused: refusal.code, refusal.reasonText, on: connection)
            throw refusal
        } catch {
            note(act, trace.known, refused: .unavailable, on: connection)
            throw error
        }
    }

    private func note(
        _ act: SignInAttempt.Act, _ known: SignInTrace.Known, of session: Session? = nil,
        refused code: Refusal.Code? = nil, _ reason: String? = nil, on connection: ClientConnection
    ) {
        let attempt = SignInAttempt(
            id: environment.newIdentifier(), at: environment.now(), act: act, providerID: known.providerID, userID: nil,
            sessionID: session?.id, providerKeyID: known.keyID, applicationID: known.applicationID,
            deviceID: connection.certificate?.certificate.deviceID, code: code?.rawValue, reason: reason)
        caches.signIns.note(
            SignInRecords.Entry(attempt: attempt, externalID: known.externalID), from: connection.network,
            most: policy[\.sessions].recordedPerHour)
    }
}

extension SignInTrace.Known {
    fileprivate init(_ session: Session) {
        self.init(
            providerID: session.providerID, externalID: session.externalID, keyID: session.providerKeyID,
            applicationID: session.applicationID)
    }
}
