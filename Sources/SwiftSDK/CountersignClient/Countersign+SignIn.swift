import Foundation
import HTTPTypes

extension Countersign {
    /// Signs a user in: requests a nonce, obtains an identity token for it, and opens a session. A challenged session
    /// is renewed and keeps its id. Any other session of this device ends.
    ///
    /// - Parameter identityToken: requests an identity token from the user's provider. It is kept, and called again
    ///   when the session must be renewed.
    @discardableResult
    public func signIn(_ identityToken: @escaping IdentityTokenSource) async throws(SignInFailure) -> Session {
        do throws(Refusal) { try load() } catch { throw .refused(error) }
        while let signingIn { _ = await signingIn.value }
        tokenSource = identityToken
        let former = record.session
        let session = try await beginSignIn(identityToken, nonce: nil, as: nil).value.get()
        if let former, former.session.id != session.id { await end(former.token) }
        return session
    }

    /// Requests the current session from the service, and attaches it to the connection. The store is read again, so a
    /// session of another process of the app is found.
    public func resume() async throws(Refusal) -> Session {
        try reload(over: try load())
        try await attach()
        guard let session = record.session?.session else { throw .signedOut }
        return session
    }

    /// Ends the session.
    ///
    /// - Parameter everywhere: whether to end the user's sessions on other devices too.
    public func signOut(everywhere: Bool = false) async throws(Refusal) {
        struct Listed: Decodable {
            struct Row: Decodable {
                let id: UUID
                let current: Bool
            }
            let sessions: [Row]
        }
        try load()
        while let signingIn { _ = await signingIn.value }
        guard record.session != nil else { return }
        if everywhere {
            let listed: Listed = try await perform(Call(.get, "/sessions"))
            for row in listed.sessions where !row.current {
                do throws(Refusal) {
                    try await send(Call(.delete, "/sessions/\(row.id.path)"))
                } catch {
                    // The session has ended already.
                    guard error.problem?.code == .notFound else { throw error }
                }
            }
        }
        guard let session = record.session else { return }
        // No other call must open a session while this one ends.
        let source = tokenSource
        tokenSource = nil
        do throws(Refusal) {
            var call = Call(.delete, "/sessions/current")
            call.authorize(session.token)
            let (answer, _) = try await exchange(call)
            if let problem = try answer.problem(), !problem.asksForIdentity, problem.code != .certificateRevoked {
                throw .service(problem)
            }
        } catch {
            if tokenSource == nil, record.session?.token == session.token { tokenSource = source }
            throw error
        }
        if record.session?.token == session.token { keepIfPossible { $0.session = nil } }
    }

    /// Attaches the session to the connection that the next call probably uses.
    func attach() async throws(Refusal) {
        guard let session = record.session else { throw .signedOut }
        let call = Call(
            .post, "/sessions/resume", json: ["user_id": session.session.userID.path, "session_token": session.token],
            isRepeatable: true)
        let (answer, serial) = try await exchange(call)
        guard let problem = try answer.problem() else { return }
        if problem.code == .certificateRevoked { forgetCertificate(serial) }
        noteEnd(of: session.token, problem)
        throw .service(problem)
    }

    /// Records that a token is no longer valid for actions.
    func noteEnd(of token: String, _ problem: Problem) {
        guard record.session?.token == token else { return }
        switch problem.code {
        case .sessionChallenged, .bindingMismatch: keepIfPossible { $0.session?.isChallenged = true }
        case .sessionExpired, .sessionDestroyed: keepIfPossible { $0.session = nil }
        default: break
        }
    }

    /// Renews the session once for all callers, or opens a new one of the same user.
    ///
    /// - Parameters:
    ///   - session: the session in which a call was refused.
    ///   - problem: the refusal, with a nonce for the next identity token.
    func renew(_ session: Record.SessionSecret, after problem: Problem) async throws(Refusal) {
        if signingIn == nil {
            // Another call has renewed it while this one waited for its response.
            guard record.session?.token == session.token else {
                if record.session == nil { throw .service(problem) }
                return
            }
            guard let tokenSource else {
                noteEnd(of: session.token, problem)
                throw .service(problem)
            }
            noteEnd(of: session.token, problem)
            _ = beginSignIn(tokenSource, nonce: problem.nonce, as: session.session.userID)
        }
        guard let signingIn else { return }
        if case .failure(let failure) = await signingIn.value { throw .notRenewed(failure) }
    }

    /// One sign-in at a time, for which all callers wait. The task clears itself, so waiting callers check again at
    /// once.
    private func beginSignIn(
        _ source: @escaping IdentityTokenSource, nonce: Nonce?, as user: UUID?
    ) -> Task<Result<Session, SignInFailure>, Never> {
        let task = Task {
            let result = await open(source, nonce: nonce, as: user)
            signingIn = nil
            return result
        }
        signingIn = task
        return task
    }

    /// Opens or renews a session.
    ///
    /// - Parameters:
    ///   - nonce: from a refusal.
    ///   - user: the required user; `nil` for any.
    private func open(
        _ source: IdentityTokenSource, nonce: Nonce?, as user: UUID?
    ) async -> Result<Session, SignInFailure> {
        var nonce = nonce
        var last = SignInFailure.refused(.cancelled)
        for _ in 0..<4 {
            do throws(SignInFailure) {
                let fresh: Nonce
                do throws(Refusal) {
                    if let nonce { fresh = nonce } else { fresh = try await takeNonce() }
                } catch {
                    throw .refused(error)
                }
                let token: String
                do { token = try await source(fresh) } catch { throw .provider(error) }
                do throws(Refusal) {
                    return .success(try await open(with: token, as: user))
                } catch {
                    nonce = try next(after: error, token)
                    last = .refused(error)
                }
            } catch {
                return .failure(error)
            }
        }
        return .failure(last)
    }

    func takeNonce() async throws(Refusal) -> Nonce {
        let (answer, serial) = try await exchange(Call(.post, "/nonces", isRepeatable: true))
        guard let problem = try answer.problem() else { return try answer.decode() }
        if problem.code == .certificateRevoked { forgetCertificate(serial) }
        throw .service(problem)
    }

    /// The secret in the response to a new or renewed session.
    private struct Opened: Decodable {
        let token: String

        private enum CodingKeys: String, CodingKey { case token = "session_token" }
    }

    private func open(with token: String, as user: UUID?) async throws(Refusal) -> Session {
        let former = record.session.flatMap { $0.isChallenged ? $0 : nil }
        var call = Call(
            .post, former == nil ? "/sessions" : "/sessions/renew",
            json: ["identity_token": token, "app_id": former == nil ? service.appID?.path : nil])
        if let former { call.authorize(former.token) }
        let (answer, serial) = try await exchange(call)
        if let problem = try answer.problem() {
            if problem.code == .certificateRevoked { forgetCertificate(serial) }
            // A renewal is not possible, so the next attempt opens a new session.
            if let former, problem.asksForIdentity || problem.code == .conflict, record.session == former {
                keepIfPossible { $0.session = nil }
            }
            throw .service(problem)
        }
        let opened: Opened = try answer.decode()
        let session: Session = try answer.decode()
        if let user, session.userID != user {
            await end(opened.token)
            keepIfPossible { $0.session = nil }
            throw .notRenewed(.anotherUser)
        }
        var changed = record
        changed.session = Record.SessionSecret(session: session, token: opened.token)
        if former != nil {
            // The former token is no longer valid, so the new one is used even if it cannot be stored.
            keepIfPossible { $0 = changed }
        } else {
            do throws(Refusal) {
                try keep(changed)
            } catch {
                await end(opened.token)
                throw error
            }
        }
        return session
    }

    /// The nonce for another attempt, or `nil` for a fresh one.
    ///
    /// - Throws: a failure that another attempt would not resolve.
    private func next(after failure: Refusal, _ token: String) throws(SignInFailure) -> Nonce? {
        switch failure {
        // The nonce may be spent by a session with a lost token.
        case .unanswered: return nil
        case .service(let problem):
            switch (problem.code, problem.reason) {
            case (.invalidIdentityToken, "nonce_used"), (.invalidIdentityToken, "nonce_expired"),
                (.invalidIdentityToken, "nonce_unknown"), (.invalidIdentityToken, "nonce_other_device"):
                return problem.nonce
            case (.invalidIdentityToken, "expired"), (.invalidIdentityToken, "not_yet_valid"):
                let lead = DeviceToken.issued(token)?.timeIntervalSince(serviceTime) ?? 0
                throw lead.magnitude > 60 ? .providerClock(offBy: .seconds(lead)) : .refused(failure)
            case (.conflict, _): return nil
            case _ where problem.asksForIdentity: return problem.nonce
            default: throw .refused(failure)
            }
        case .notRenewed(let inner): throw inner
        default: throw .refused(failure)
        }
    }

    /// Ends a session that will not be used. If that fails, it expires.
    private func end(_ token: String) async {
        var call = Call(.delete, "/sessions/current")
        call.authorize(token)
        _ = try? await exchange(call)
    }
}
